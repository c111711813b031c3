/** One command of a shell line. */
export type SimpleCommand = {
  /** Without leading variables. */
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Redirections: `>`, `>>`, `2>>`, `<`. */
  readonly redirections: readonly { readonly operator: string; readonly file: string }[];
};

type Token = { readonly kind: 'word' | 'operator'; readonly text: string };

const operators = ['&&', '||', '2>>', '2>', '>>', '<<', '>', '<', '|', ';', '(', ')'];
/** Text for readers to replace: `<run>`. */
const placeholder = /^<[A-Za-z][\w |-]*>/;

/** Parses a shell line. Variables in words stay unexpanded. */
export function parseCommands(text: string): SimpleCommand[] {
  const line = text.replaceAll('\\\n', ' ');
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let redirections: { operator: string; file: string }[] = [];
  let redirecting: string | undefined;
  const end = (): void => {
    const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
    const set = words.slice(0, first === -1 ? words.length : first);
    const rest = words.slice(set.length);
    const variables = Object.fromEntries(
      set.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
    );
    if (words.length > 0) commands.push({ words: rest, variables, redirections });
    words = [];
    redirections = [];
  };
  for (const { kind, text } of tokenize(line)) {
    if (kind === 'operator' && /[<>]/.test(text)) redirecting = text;
    else if (kind === 'operator') end();
    else if (redirecting === undefined) words.push(text);
    else {
      redirections.push({ operator: redirecting, file: text });
      redirecting = undefined;
    }
  }
  end();
  return commands;
}

function tokenize(line: string): Token[] {
  const tokens: Token[] = [];
  let word: string | undefined;
  const end = (): void => {
    if (word !== undefined) tokens.push({ kind: 'word', text: word });
    word = undefined;
  };
  for (let offset = 0; offset < line.length; ) {
    const rest = line.slice(offset);
    const quoted = /^'([^']*)'|^"((?:[^"\\]|\\.)*)"/s.exec(rest);
    const placeholderText = placeholder.exec(rest)?.[0];
    const operator = operators.find(
      (each) => rest.startsWith(each) && (!each.startsWith('2') || word === undefined),
    );
    if (quoted) word = (word ?? '') + (quoted[1] ?? quoted[2]?.replace(/\\(.)/gs, '$1') ?? '');
    else if (placeholderText) word = (word ?? '') + placeholderText;
    else if (/^\s/.test(rest)) end();
    else if (rest.startsWith('#') && word === undefined) break;
    else if (operator !== undefined) {
      end();
      tokens.push({ kind: 'operator', text: operator });
    } else if (rest.startsWith('\\')) word = (word ?? '') + (rest[1] ?? '');
    else word = (word ?? '') + rest[0];
    offset +=
      quoted?.[0].length ??
      placeholderText?.length ??
      (/^\s/.test(rest) ? 1 : (operator?.length ?? (rest.startsWith('\\') ? 2 : 1)));
  }
  end();
  return tokens;
}

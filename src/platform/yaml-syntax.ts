import {
  type Document,
  isAlias,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLParseError,
} from 'yaml';
import { InputError, type Problem } from '../domain/problems.ts';

export type YamlTree = {
  readonly source: string;
  readonly document: Document.Parsed;
  readonly at: (offset: number) => string;
};

/**
 * Scalars stay text (YAML's failsafe schema), so `0123`, `+6421…` and `no` do not become numbers and booleans.
 *
 * Rejects anchors, aliases, tags and null. Such short files need none, and they would silently turn `&nbsp;
 * Hello` and `!Important notice` into `Hello` and `notice`.
 *
 * @throws InputError with all problems
 */
export function parseYaml(source: string, file: string): YamlTree {
  const lineCounter = new LineCounter();
  const document = parse(source, lineCounter);
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const values = [...findValueProblems(document, source, at), ...findSwallowedLines(document, source, at)];
  const problems = [
    ...findRepeatedKeys(document, source, at),
    ...(values.length > 0 ? values : findSyntaxError(document, source, at)),
  ];
  if (problems.length > 0) throw new InputError(problems);
  return { source, document, at };
}

/** `findRepeatedKeys` checks uniqueness, because the parser compares every pair of keys. */
function parse(source: string, lineCounter: LineCounter): Document.Parsed {
  return parseDocument(source, {
    schema: 'failsafe',
    stringKeys: true,
    uniqueKeys: false,
    lineCounter,
    prettyErrors: false,
  });
}

/**
 * Like `parseYaml`, but returns undefined if the text is not readable.
 *
 * @param line 1-based; must not continue an unquoted text from above
 */
export function parseReadableYaml(source: string, line?: number): Document.Parsed | undefined {
  const lines = new LineCounter();
  const document = parse(source, lines);
  if (document.errors.length > 0) return undefined;
  const at = (offset: number): string => String(lines.linePos(offset).line);
  const problems = [findValueProblems, findSwallowedLines, findRepeatedKeys].map((find) =>
    find(document, source, at),
  );
  if (problems.flat().length > 0) return undefined;
  const continuesText = plainTexts(document).some(([start, end]) => {
    const first = lines.linePos(start).line;
    return line !== undefined && first < line && line <= lines.linePos(end).line;
  });
  return continuesText ? undefined : document;
}

function plainTexts(document: Document): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  visit(document, {
    Scalar: (_, { type, range }) => {
      if (type === 'PLAIN' && range) ranges.push([range[0], range[1]]);
    },
  });
  return ranges;
}

/** YAML joins a list item that is indented too far to the text above. */
function findSwallowedLines(document: Document, source: string, at: (offset: number) => string): Problem[] {
  return plainTexts(document).flatMap(([start, end]) => {
    const dash = source.slice(start, end).search(/-(?<=\n[ ]*-) /);
    if (dash < 0) return [];
    const what =
      'This line begins with "- " but continues the text of the line above it. Put all items of a list in one column; put a text of several lines in quotes.';
    return [{ where: at(start + dash), what }];
  });
}

export const repeatedKeyText = 'is written twice; keys must be unique.';

function findRepeatedKeys(document: Document, _source: string, at: (offset: number) => string): Problem[] {
  const repeated: { readonly offset: number; readonly what: string }[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const known = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (known.has(name)) {
          const what = `Key "${name}" ${repeatedKeyText}`;
          repeated.push({ offset: key.range?.[0] ?? 0, what });
        }
        known.add(name);
      }
    },
  });
  repeated.sort((one, other) => one.offset - other.offset);
  return repeated.map(({ offset, what }) => ({ where: at(offset), what }));
}

/** Finds only the first error; the others mostly follow from it. */
function findSyntaxError(document: Document, source: string, at: (offset: number) => string): Problem[] {
  const [error] = document.errors;
  if (!error) return [];
  const [offset] = error.pos;
  // A key below a complete value is indented too far.
  const deeper = /^(?!.*:[ ])[^\n]*\n(?:[ ]*(?:#.*)?\n)*[ ]*/.exec(
    source.slice(offset).replaceAll('\r', ' '),
  )?.[0];
  if (error.code === 'BLOCK_AS_IMPLICIT_KEY' && deeper !== undefined) {
    return [{ where: at(offset + deeper.length), what: wrongIndentation }];
  }
  return [
    error.message.startsWith('Missing closing')
      ? { where: at(lastScalar(document) ?? offset), what: 'This quote is never closed.' }
      : { where: at(offset), what: explain(error, source.slice(offset)) },
  ];
}

const wrongIndentation =
  'The indentation does not fit the lines above; keys of one level must start in the same column.';

function explain({ code, message }: YAMLParseError, rest: string): string {
  const first = JSON.stringify(rest.slice(0, 1));
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'A line is indented with a tab; expected spaces.';
    case 'MULTIPLE_DOCS':
      return 'A second document begins here; expected one document in the file, without "---" or "..." inside.';
    case 'BAD_SCALAR_START':
      return `A text that begins with ${first} must be in quotes.`;
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'A text with ": " in it must be in quotes.';
    case 'NON_STRING_KEY':
      return 'Expected a plain word as a key. A text that begins with "{" or "[" must be in quotes.';
    case 'UNEXPECTED_TOKEN':
      return `Unexpected ${first} here. A text that begins with a quote, "[", "{", "*", "-" or "|" must be in quotes as a whole.`;
    case 'BAD_INDENT':
      return message.startsWith('Flow') ? openList : wrongIndentation;
    case 'MISSING_CHAR':
      return missingCharacter(message);
    case 'BAD_DQ_ESCAPE':
      return `In double quotes, ${JSON.stringify(rest.slice(0, 2))} is no escape sequence: write the backslash twice, or put the text in single quotes.`;
    case 'MULTILINE_IMPLICIT_KEY':
    case 'KEY_OVER_1024_CHARS':
      return 'Expected "key: value" on one line, with a key of at most 1024 characters. A text with ": " in it must be in quotes.';
    case 'BLOCK_IN_FLOW':
      return openList;
    case 'BAD_DIRECTIVE':
      return 'A line that begins with "%" is a YAML directive, which Volley does not read; remove it.';
    case 'RESOURCE_EXHAUSTION':
      return tooDeep;
    default:
      return message.startsWith('Maximum call stack')
        ? tooDeep
        : 'This cannot be read as YAML. A text with characters that mean something in YAML must be in quotes.';
  }
}

const tooDeep = 'The keys and lists are nested too deeply.';

const openList =
  'The list or map before this was opened with "[" or "{" and is not closed. A text that begins with one must be in quotes.';

function missingCharacter(message: string): string {
  if (/map values/.test(message)) return 'Expected "key: value"; a ":" is missing.';
  if (/space after :/.test(message)) return 'Expected a space after ":".';
  if (/^Comments/.test(message))
    return 'Expected a space before "#"; a text with "#" in it must be in quotes.';
  if (/^Missing ,/.test(message)) return 'Expected a comma between the parts of a list or map.';
  if (/without - indicator/.test(message)) return 'Expected "- " before each item of a list.';
  return 'A character is missing here. A text with characters that mean something in YAML must be in quotes.';
}

/** An open quote puts the rest of the file into one scalar. */
function lastScalar(document: Document): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Scalar: (_, { range }) => {
      offset = range?.[0] ?? offset;
    },
  });
  return offset;
}

/** A file with one alias often has many. */
const maxValueProblems = 5;

function findValueProblems(document: Document, source: string, at: (offset: number) => string): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Node: (_, node) => {
      const offset = node.range?.[0] ?? 0;
      const mark = markOf(node);
      if (mark !== undefined) {
        const written = isAlias(node) ? offset : source.slice(0, offset).search(/(?:&|(?<!!)!+)[^&!]*$/);
        // If the surrounding list is broken too, the parser puts the node before its mark.
        const markOffset = written < 0 ? offset : written;
        const what = `A text that begins with "${mark}" must be in quotes (YAML's anchors, aliases and tags are not read here).`;
        problems.push({ where: at(markOffset), what });
        // Each problem searches the whole text before it.
        if (problems.length >= maxValueProblems) return visit.BREAK;
      } else if (isScalar(node) && node.type === 'PLAIN' && /^(~|null)$/i.test(String(node.value))) {
        const what = `"${node.value}" means no value in YAML: leave the key out, or put the text in quotes.`;
        problems.push({ where: at(offset), what });
      }
      return undefined;
    },
  });
  return problems.slice(0, maxValueProblems);
}

function markOf(node: Node): '*' | '&' | '!' | undefined {
  if (isAlias(node)) return '*';
  if ('anchor' in node && node.anchor !== undefined) return '&';
  return node.tag === undefined ? undefined : '!';
}

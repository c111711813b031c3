/**
 * Finds a line with wrong indentation. YAML reports such a mistake where the text first makes no sense. So each
 * line is tried with other indentations until the file becomes readable.
 */

/** `readable`: whether the text is valid YAML. */
export type YamlCheck = { readonly readable: boolean; readonly problems: number };

type WrongIndentation = {
  readonly line: number;
  readonly actual: number;
  readonly expected: number;
  readonly fixed: string;
};

type Line = { readonly index: number; readonly indent: number; readonly text: string };
type Change = { readonly line: Line; readonly indent: number; readonly lines: number; readonly rank: number };

/** Checking takes time proportional to the text, so attempts share a budget. */
const characterBudget = 150_000;
const maxAttempts = 250;

/** Each line is compared with all others and with each problem. */
const maxLines = 2_000;
const maxProblemLines = 20;

/**
 * @param problemLines 1-based. In invalid YAML the mistake is at, before or right after the first; in valid
 *   YAML it is near one of them.
 * @param readable whether the text is valid YAML; a change must then leave no problem, because it could just
 *   hide some
 * @param check checks a text with one changed line (1-based)
 */
export function findWrongIndentation(
  source: string,
  problemLines: readonly number[],
  readable: boolean,
  check: (fixed: string, line: number) => YamlCheck,
): WrongIndentation | undefined {
  const attempts = Math.min(maxAttempts, Math.floor(characterBudget / (source.length + 1)));
  if (attempts === 0) return undefined;
  const written = source.split('\n');
  const lines = written.flatMap((line, index) => parseLine(line, index));
  if (lines.length > maxLines) return undefined;
  const changes = [...listChanges(lines, problemLines.slice(0, maxProblemLines), readable)].sort(
    (one, other) => other.rank - one.rank,
  );
  let best: { readonly change: Change; readonly fixed: string; readonly left: YamlCheck } | undefined;
  for (const change of changes.slice(0, attempts)) {
    const fixed = withIndent(written, change);
    const left = check(fixed, change.line.index + 1);
    if (!left.readable || (readable && left.problems > 0)) continue;
    if (best === undefined || left.problems < best.left.problems) best = { change, fixed, left };
    if (left.problems === 0) break;
  }
  if (!best) return undefined;
  const { line, indent } = best.change;
  return { line: line.index + 1, actual: line.indent, expected: indent, fixed: best.fixed };
}

/** Skips blank lines and comments, and tabs, which have their own message. */
function parseLine(line: string, index: number): Line[] {
  const [spaces = ''] = /^ */.exec(line) ?? [];
  const text = line.slice(spaces.length).trimEnd();
  return text === '' || /^[#\t]|^(?:---|\.\.\.)$/.test(text) ? [] : [{ index, indent: spaces.length, text }];
}

/** Prefers moves from a rare indentation to a frequent one, and of a line alone to its block. */
function* listChanges(
  lines: readonly Line[],
  problemLines: readonly number[],
  readable: boolean,
): Generator<Change, void, undefined> {
  const [until = lines.length] = problemLines;
  const counts = new Map<number, number>();
  for (const { indent } of lines) counts.set(indent, (counts.get(indent) ?? 0) + 1);
  const nextIndex = lines.findIndex(({ index }) => index >= until);
  for (const [position, line] of lines.entries()) {
    if (
      readable
        ? !problemLines.some((near) => Math.abs(near - 1 - line.index) <= 2)
        : nextIndex >= 0 && position > nextIndex + 1
    )
      continue;
    const above = lines[position - 1]?.indent ?? 0;
    const below = lines[position + 1]?.indent ?? 0;
    const blockLength = countBlockLines(lines, position);
    const listDepth = usualListIndent(lines, position);
    const distance = Math.abs(until - 1 - line.index) / lines.length;
    for (const indent of new Set([...counts.keys(), above, above + 2, below])) {
      if (indent === line.indent) continue;
      const habit = indent === listDepth ? 2 * lines.length : 0;
      const popularity = (counts.get(indent) ?? 0) - (counts.get(line.indent) ?? 0);
      const rank = habit + popularity + (indent % 2 === 0 ? 0.5 : 0) - distance / 4;
      yield { line, indent, lines: 1, rank };
      if (blockLength > 1) yield { line, indent, lines: blockLength, rank: rank - lines.length };
    }
  }
}

/** List items usually stand deeper than their key, although YAML accepts the same column. */
function usualListIndent(lines: readonly Line[], position: number): number | undefined {
  if (!lines[position]?.text.startsWith('- ')) return undefined;
  const key = lines.findLast(({ text }, index) => index < position && !text.startsWith('- '));
  return key && key.indent + 2;
}

/** The number of lines of a line and its deeper block. */
function countBlockLines(lines: readonly Line[], position: number): number {
  const first = lines[position];
  if (first === undefined) return 0;
  const next = lines.findIndex(({ indent }, index) => index > position && indent <= first.indent);
  const last = lines[(next < 0 ? lines.length : next) - 1] ?? first;
  return last.index - first.index + 1;
}

function withIndent(written: readonly string[], { line, indent, lines }: Change): string {
  const by = indent - line.indent;
  return written
    .map((text, index) => {
      if (index < line.index || index >= line.index + lines || text.trim() === '') return text;
      return by < 0 ? text.slice(Math.min(-by, text.search(/[^ ]/))) : ' '.repeat(by) + text;
    })
    .join('\n');
}

/** A mistake that YAML reports like wrong indentation. Fixing it leaves no problem. */
type LookalikeMistake = {
  readonly line: number;
  readonly column: number;
  readonly what: string;
};

const oddSpaces =
  /^[ ]*[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000][ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*/;

const lookalikes = [
  {
    what: 'This line is indented with spaces that YAML does not accept, such as no-break spaces; expected ordinary spaces.',
    pattern: oddSpaces,
    fix: (found: string) => found.replaceAll(/./gu, ' '),
    columnOf: () => 1,
  },
  {
    what: 'Expected a space after ":".',
    pattern: /^ *(?:- )?[A-Za-z]\w*:(?=[^\s:/])/,
    fix: (found: string) => `${found} `,
    columnOf: (found: string) => found.length + 1,
  },
  {
    what: 'Expected "key: value"; a ":" is missing.',
    pattern: /^ *(?:- )?[A-Za-z]\w*(?= +\S|\s*$)/,
    fix: (found: string) => `${found}:`,
    columnOf: (found: string) => found.search(/\S/) + 1,
  },
] as const;

/**
 * Checks the lines around the first problem.
 * @param problemLines 1-based
 */
export function findLookalikeMistake(
  source: string,
  problemLines: readonly number[],
  check: (fixed: string) => YamlCheck,
): LookalikeMistake | undefined {
  const written = source.split('\n');
  const [first = 1] = problemLines;
  for (const { pattern, fix, columnOf, what } of lookalikes) {
    for (let line = Math.max(1, first - 2); line <= Math.min(written.length, first + 1); line++) {
      const text = written[line - 1] ?? '';
      const [found] = pattern.exec(text) ?? [];
      if (found === undefined) continue;
      const fixed = written.with(line - 1, fix(found) + text.slice(found.length)).join('\n');
      const left = check(fixed);
      if (left.readable && left.problems === 0) return { line, column: columnOf(found), what };
    }
  }
  return undefined;
}

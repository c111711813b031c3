/**
 * Finds the line whose indentation is off. YAML itself tells of such a mistake where it first makes no sense, often at
 * another line and in other words; so one line after another is tried with another indentation, and the one that makes
 * the file readable is it.
 */

/** What is left to tell of a text: a number of problems, and whether it can be read as YAML at all. */
export type YamlCheck = { readonly readable: boolean; readonly problems: number };

export type WrongIndentation = {
  readonly line: number;
  readonly actual: number;
  readonly expected: number;
  readonly fixed: string;
};

type Line = { readonly index: number; readonly indent: number; readonly text: string };
type Change = { readonly line: Line; readonly indent: number; readonly lines: number; readonly rank: number };

/** Trying takes about as long as the text has characters; so many may be read again. */
const characterBudget = 150_000;
const maxAttempts = 250;

/** Each line is compared with the others; and so many problems say where the mistake may be. */
const maxLines = 2_000;
const maxProblemLines = 20;

/**
 * @param problemLines the lines of the problems that were found, from 1. In a text that is no YAML the mistake is at or before the
 *   first of them, or right behind it; in one that is, beside one of them.
 * @param readable whether the text is YAML. A change must then leave no problem at all, or it may only hide some.
 * @param check of a text that was changed in a line, from 1
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

/** Blank lines and comments have no indentation to speak of; tabs are told of by themselves. */
function parseLine(line: string, index: number): Line[] {
  const [spaces = ''] = /^ */.exec(line) ?? [];
  const text = line.slice(spaces.length).trimEnd();
  return text === '' || /^[#\t]|^(?:---|\.\.\.)$/.test(text) ? [] : [{ index, indent: spaces.length, text }];
}

/**
 * The likely ones have the highest rank: a line that is indented as few others are, brought to where many are. Where both
 * a line alone and all that belongs to it could be meant, it is the line.
 */
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

/** Where a line of a list stands by habit: deeper than the key it belongs to, though YAML takes it in the same column. */
function usualListIndent(lines: readonly Line[], position: number): number | undefined {
  if (!lines[position]?.text.startsWith('- ')) return undefined;
  const key = lines.findLast(({ text }, index) => index < position && !text.startsWith('- '));
  return key && key.indent + 2;
}

/** How many lines of the file a line and those below it that are deeper take. */
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

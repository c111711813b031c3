/**
 * Finds the line whose indentation is off. YAML itself tells of such a mistake where it first makes no sense, often at
 * another line and in other words; so one line after another is tried with another indentation, and the one that makes
 * the file readable is it.
 */

/** What is left to tell of a text: a number of problems, and whether it can be read as YAML at all. */
export type Judgement = { readonly readable: boolean; readonly problems: number };

export type WrongIndentation = {
  readonly line: number;
  readonly has: number;
  readonly expected: number;
  readonly mended: string;
};

type Line = { readonly index: number; readonly indent: number; readonly text: string };
type Change = { readonly line: Line; readonly indent: number; readonly lines: number; readonly rank: number };

/** Trying takes about as long as the text has characters; so many may be read again. */
const characterBudget = 150_000;
const mostTries = 250;

/** Each line is compared with the others; and so many problems say where the mistake may be. */
const mostLines = 2_000;
const mostTold = 20;

/**
 * @param told the lines of the problems that were found, from 1. In a text that is no YAML the mistake is at or before the
 *   first of them, or right behind it; in one that is, beside one of them.
 * @param readable whether the text is YAML. A change must then leave no problem at all, or it may only hide some.
 * @param judge of a text that was changed in a line, from 1
 */
export function findWrongIndentation(
  source: string,
  told: readonly number[],
  readable: boolean,
  judge: (mended: string, line: number) => Judgement,
): WrongIndentation | undefined {
  const tries = Math.min(mostTries, Math.floor(characterBudget / (source.length + 1)));
  if (tries === 0) return undefined;
  const written = source.split('\n');
  const lines = written.flatMap((line, index) => linesOf(line, index));
  if (lines.length > mostLines) return undefined;
  const changes = [...changesOf(lines, told.slice(0, mostTold), readable)].sort(
    (one, other) => other.rank - one.rank,
  );
  let best: { readonly change: Change; readonly mended: string; readonly left: Judgement } | undefined;
  for (const change of changes.slice(0, tries)) {
    const mended = withIndent(written, change);
    const left = judge(mended, change.line.index + 1);
    if (!left.readable || (readable && left.problems > 0)) continue;
    if (best === undefined || left.problems < best.left.problems) best = { change, mended, left };
    if (left.problems === 0) break;
  }
  if (!best) return undefined;
  const { line, indent } = best.change;
  return { line: line.index + 1, has: line.indent, expected: indent, mended: best.mended };
}

/** Blank lines and comments have no indentation to speak of; tabs are told of by themselves. */
function linesOf(line: string, index: number): Line[] {
  const [spaces = ''] = /^ */.exec(line) ?? [];
  const text = line.slice(spaces.length).trimEnd();
  return text === '' || /^[#\t]|^(?:---|\.\.\.)$/.test(text) ? [] : [{ index, indent: spaces.length, text }];
}

/**
 * The likely ones have the highest rank: a line that is indented as few others are, brought to where many are. Where both
 * a line alone and all that belongs to it could be meant, it is the line.
 */
function* changesOf(
  lines: readonly Line[],
  told: readonly number[],
  readable: boolean,
): Generator<Change, void, undefined> {
  const [until = lines.length] = told;
  const counts = new Map<number, number>();
  for (const { indent } of lines) counts.set(indent, (counts.get(indent) ?? 0) + 1);
  const behind = lines.findIndex(({ index }) => index >= until);
  for (const [place, line] of lines.entries()) {
    if (
      readable
        ? !told.some((near) => Math.abs(near - 1 - line.index) <= 2)
        : behind >= 0 && place > behind + 1
    )
      continue;
    const above = lines[place - 1]?.indent ?? 0;
    const below = lines[place + 1]?.indent ?? 0;
    const belonging = countBelonging(lines, place);
    const listDepth = listDepthOf(lines, place);
    const distance = Math.abs(until - 1 - line.index) / lines.length;
    for (const indent of new Set([...counts.keys(), above, above + 2, below])) {
      if (indent === line.indent) continue;
      const habit = indent === listDepth ? 2 * lines.length : 0;
      const likely = (counts.get(indent) ?? 0) - (counts.get(line.indent) ?? 0);
      const rank = habit + likely + (indent % 2 === 0 ? 0.5 : 0) - distance / 4;
      yield { line, indent, lines: 1, rank };
      if (belonging > 1) yield { line, indent, lines: belonging, rank: rank - lines.length };
    }
  }
}

/** Where a line of a list stands by habit: deeper than the key it belongs to, though YAML takes it in the same column. */
function listDepthOf(lines: readonly Line[], place: number): number | undefined {
  if (!lines[place]?.text.startsWith('- ')) return undefined;
  const key = lines.findLast(({ text }, index) => index < place && !text.startsWith('- '));
  return key && key.indent + 2;
}

/** How many lines of the file a line and those below it that are deeper take. */
function countBelonging(lines: readonly Line[], place: number): number {
  const first = lines[place];
  if (first === undefined) return 0;
  const next = lines.findIndex(({ indent }, index) => index > place && indent <= first.indent);
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

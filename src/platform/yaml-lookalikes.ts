import type { YamlCheck } from './yaml-indentation.ts';

/** A mistake that YAML reports like wrong indentation. Fixing it leaves no problem. */
export type LookalikeMistake = {
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

import { parseEnv } from 'node:util';
import { InputError, type Problem } from '../domain/problems.ts';

type Variables = Readonly<Record<string, string>>;

/**
 * Reads `NAME=value` lines with Node's own parser, which skips what it does not understand. A value that it would
 * skip or cut is therefore refused first. Values are taken as written: `$NAME` is not replaced.
 *
 * @param name the file's name in errors
 * @throws InputError with every line that is not understood
 */
export function parseEnvFile(source: string, name: string): Variables {
  const text = source.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const problems = listProblems(text.split('\n'), name);
  if (problems.length > 0) throw new InputError(problems);
  return Object.fromEntries(
    Object.entries(parseEnv(text)).flatMap(([variable, value]) =>
      value === undefined ? [] : [[variable, value]],
    ),
  );
}

/** `file:line` of each variable; of one that is set twice, the last. */
export function placesOf(source: string, name: string): ReadonlyMap<string, string> {
  return new Map(
    source.split(/\r\n?|\n/).flatMap((line, index) => {
      const variable = assignment.exec(line)?.groups?.['name'];
      return variable === undefined ? [] : [[variable, `${name}:${index + 1}`] as const];
    }),
  );
}

const assignment = /^[ \t]*(?:export +)?(?<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=(?<value>.*)$/;
const ignored = /^[ \t]*(?:#.*)?$/;

function listProblems(lines: readonly string[], name: string): Problem[] {
  const problems: Problem[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (ignored.test(line)) continue;
    const value = assignment.exec(line)?.groups?.['value'];
    const { fault, lastIndex } =
      value === undefined
        ? { fault: 'expected NAME=value, or a comment that begins with #', lastIndex: index }
        : checkValue(value, lines, index);
    // Without the line itself: it can hold a secret.
    if (fault !== undefined) problems.push({ where: `${name}:${index + 1}`, what: `${fault}.` });
    index = lastIndex;
  }
  return problems;
}

type Checked = { readonly fault?: string; readonly lastIndex: number };

/** @param index of the line that the value begins in */
function checkValue(written: string, lines: readonly string[], index: number): Checked {
  const value = written.trimStart();
  const [quote = ''] = value;
  if (!['"', "'", '`'].includes(quote)) {
    const isCut = /(?:^|\S)#/.test(written);
    const fault = 'The value contains #, which begins a comment. Put the value in quotes';
    return isCut ? { fault, lastIndex: index } : { lastIndex: index };
  }
  let lastIndex = index;
  let rest = value.slice(1);
  while (!rest.includes(quote)) {
    lastIndex++;
    const next = lines[lastIndex];
    // Reads on after the first line, so that a quote too many is one problem.
    if (next === undefined) return { fault: `The quote ${quote} is not closed`, lastIndex: index };
    rest = next;
  }
  const after = rest.slice(rest.indexOf(quote) + 1);
  if (ignored.test(after)) return { lastIndex };
  const fault = `Expected nothing after the closing ${quote}. For a value that contains ${quote}, use other quotes`;
  return { fault, lastIndex };
}

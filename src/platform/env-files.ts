import { isUtf8 } from 'node:buffer';
import { type Stats, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { InputError, type Problem } from '../domain/problems.ts';
import { unreadableReason } from './file-error.ts';
import { isWorldWritable, projectFolder } from './project.ts';
import { readUpToSync } from './read-up-to.ts';

type EnvFiles = {
  /** Absolute. */
  readonly paths: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** `file:line` of each variable. */
  readonly places: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
};

/**
 * Reads the `.env` of the project, or of the working folder outside any. Named files are read instead of it; a later
 * one takes precedence.
 *
 * @throws InputError if a named file does not exist, or a file cannot be read or has an error
 */
export function readEnvFiles(workingFolder: string, named: readonly string[] = []): EnvFiles {
  return named.length > 0 ? readNamed(workingFolder, named) : readOwn(workingFolder);
}

function readNamed(workingFolder: string, named: readonly string[]): EnvFiles {
  const files = named.map((name) => readFile(resolve(workingFolder, name), name, '--env-file'));
  return {
    paths: files.flatMap(({ paths }) => paths),
    variables: Object.assign({}, ...files.map(({ variables }) => variables)),
    places: new Map(files.flatMap(({ places }) => [...places])),
    warnings: files.flatMap(({ warnings }) => warnings),
  };
}

const noFile: EnvFiles = { paths: [], variables: {}, places: new Map(), warnings: [] };

function readOwn(workingFolder: string): EnvFiles {
  const folder = projectFolder(workingFolder);
  const path = join(folder, '.env');
  const shown = relative(workingFolder, path);
  const status = orUnreadable(() => statSync(path, { throwIfNoEntry: false }), shown, shown);
  // A Python environment is often a folder of this name.
  if (status === undefined || status.isDirectory()) return noFile;
  if (isForeign(folder, status)) {
    const warning = `${shown} belongs to another user, in a folder that every user can write to, so it is not read. To read it, name it: --env-file ${shown}`;
    return { ...noFile, warnings: [warning] };
  }
  return readFile(path, shown, shown);
}

/** Another user could name a database or a service that gets our addresses. */
function isForeign(folder: string, { uid }: Stats): boolean {
  return isWorldWritable(folder) && uid !== 0 && uid !== process.getuid?.();
}

function readFile(path: string, shown: string, where: string): EnvFiles {
  const bytes = orUnreadable(() => readUpToSync(path, maxBytes), shown, where);
  if (bytes.length > maxBytes)
    throw new InputError([{ where: shown, what: 'The file has more than 1 MiB, as no settings have.' }]);
  if (!isUtf8(bytes))
    throw new InputError([{ where: shown, what: 'The file is not UTF-8. Save it as UTF-8.' }]);
  const source = bytes.toString('utf8');
  const variables = parseEnvFile(source, shown);
  const isOpen = (statSync(path).mode & othersRead) !== 0 && Object.entries(variables).some(isSecret);
  const warning = `${shown} has secrets, and other users can read it. Run: chmod 600 ${shown}`;
  return { paths: [path], variables, places: placesOf(source, shown), warnings: isOpen ? [warning] : [] };
}

const maxBytes = 1024 * 1024;

function orUnreadable<Result>(read: () => Result, shown: string, where: string): Result {
  try {
    return read();
  } catch (error) {
    const hint =
      where === '--env-file' ? '' : ' To continue without it, add --env-file /dev/null to the command.';
    const file = where === shown ? 'The file' : `The file ${shown}`;
    const what = `${file} cannot be read (${unreadableReason(error, shown)}).${hint}`;
    throw new InputError([{ where, what }], { cause: error });
  }
}

const othersRead = 0o004;

function isSecret([name, value]: [string, string]): boolean {
  return value !== '' && (/TOKEN|KEY|SECRET|PASSW/i.test(name) || Boolean(URL.parse(value)?.password));
}

/**
 * Reads `NAME=value` lines with Node's own parser, which skips what it does not understand. A value that it would
 * skip or cut is therefore refused first. Values are taken as written: `$NAME` is not replaced.
 *
 * @param name the file's name in errors
 * @throws InputError with every line that is not understood
 */
export function parseEnvFile(source: string, name: string): EnvFiles['variables'] {
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
function placesOf(source: string, name: string): ReadonlyMap<string, string> {
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

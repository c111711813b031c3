import { resolve } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { accountsPath, maxBytes } from '../engine/definition-files.ts';
import type { Settings } from '../engine/settings.ts';
import { readEnvFiles } from '../platform/env-files.ts';
import { readUpToSync } from '../platform/read-up-to.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { type Screen, wantsColour } from '../report/screen.ts';
import { option } from './command.ts';
import { helpSections } from './help-text.ts';
import type { Shell } from './shell.ts';

const flag = '--env-file';

export const envFileOption = option(
  `${flag} <file>`,
  "file with settings, instead of the project's .env; can be repeated, the last one counts; /dev/null: none",
  { read: (file: string, files: readonly string[] = []): readonly string[] => [...files, file] },
);

/**
 * Adds the settings of `.env`, or of the files of --env-file. Options take precedence over the environment, the
 * environment over these files, and the files over defaults.
 *
 * @param words the whole command line: a command is defined with these settings, before its options are parsed
 * @throws InputError if a file cannot be read or has an error
 */
export function withEnvFiles(shell: Shell, words: readonly string[]): Shell {
  const named = namedFiles(words);
  const noted = new Set<string>();
  const settingsIn = (workingFolder: string): Settings => {
    const { paths, variables, places, warnings } = readEnvFiles(workingFolder, named);
    for (const warning of warnings) if (!noted.has(warning)) shell.note(warning);
    for (const warning of warnings) noted.add(warning);
    const environment = { ...variables, ...shell.settings.environment };
    refuseUnknownNames(places, { environment, workingFolder });
    return {
      environment,
      workingFolder,
      envFiles: paths,
      get standardInput() {
        return shell.settings.standardInput;
      },
    };
  };
  const settings = settingsIn(shell.settings.workingFolder);
  shell.exportVariables(settings.environment);
  return {
    ...shell,
    settings,
    settingsIn,
    screen: adjustScreen(shell.screen, settings),
    noteScreen: adjustScreen(shell.noteScreen, settings),
  };
}

const ownNames = helpSections
  .flatMap(({ entries }) => entries.map(([name]) => name))
  .filter((name) => name.startsWith('VOLLEY_'));

/** A misspelt name would silently leave its default. Names of other programs are theirs. */
function refuseUnknownNames(places: ReadonlyMap<string, string>, settings: Settings): void {
  const others = [...places].filter(([name]) => name.startsWith('VOLLEY_') && !ownNames.includes(name));
  if (others.length === 0) return;
  const path = accountsPath(settings);
  const named = namesIn(resolve(settings.workingFolder, path));
  if (named === undefined) return;
  const unknown = others.filter(([name]) => !named.includes(name));
  if (unknown.length === 0) return;
  throw new InputError(
    unknown.map(([name, where]) => ({
      where,
      what: `${name} is no setting of Volley, and ${path} does not name it as \${${name}}.${didYouMean(name, [...ownNames, ...named])} If nothing needs it, remove the line.`,
    })),
  );
}

/** The names that an accounts file takes from the environment. @returns undefined if it cannot be read */
function namesIn(accounts: string): string[] | undefined {
  try {
    const text = readUpToSync(accounts, maxBytes.accounts).toString();
    return [...text.matchAll(/\$\{([A-Z][A-Z0-9_]*)/g)].flatMap(([, name]) => name ?? []);
  } catch {
    // The command that needs the accounts says why.
    return undefined;
  }
}

function namedFiles(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const options = end < 0 ? words : words.slice(0, end);
  return options.flatMap((word, index) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    const value = options[index + 1];
    return word === flag && value !== undefined ? [value] : [];
  });
}

function adjustScreen(screen: Screen, { environment }: Settings): Screen {
  return {
    ...screen,
    colour: screen.colour && wantsColour(environment, true),
    // A screen without a zone is not a terminal.
    zone: screen.zone && (zoneOf(environment['TZ']) ?? screen.zone),
  };
}

function zoneOf(name: string | undefined): string | undefined {
  if (!name) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

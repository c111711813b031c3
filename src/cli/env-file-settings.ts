import { Option } from 'commander';
import type { Settings } from '../engine/settings.ts';
import { readEnvFiles } from '../platform/env-files.ts';
import type { Screen } from '../report/screen.ts';
import { wantsColour } from './colour.ts';
import type { Shell } from './shell.ts';

const flag = '--env-file';

export const envFileOption = (): Option =>
  new Option(
    `${flag} <file>`,
    "file with settings, instead of the project's .env; can be repeated, and later files take precedence; /dev/null: none",
  ).argParser((file: string, files: readonly string[] = []) => [...files, file]);

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
    const { paths, variables, warnings } = readEnvFiles(workingFolder, named);
    for (const warning of warnings) if (!noted.has(warning)) shell.note(warning);
    for (const warning of warnings) noted.add(warning);
    return {
      environment: { ...variables, ...shell.settings.environment },
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

import { type Command, InvalidArgumentError } from 'commander';
import { duration } from '../platform/scalars.ts';

/** Readers of option values; what they refuse ends the command with exit code 2. */

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('expected a port from 0 to 65535.');
}

export function parseWholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number.');
}

export function parseShare(text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share <= 1) return share;
  throw new InvalidArgumentError('expected a share from 0 to 1, such as 0.05.');
}

/** Milliseconds. */
export function parseDuration(text: string): number {
  const result = duration.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError('expected a duration such as 500ms, 5s, 2m or 2h.');
}

/** For the commands that read contacts: `--contacts`, which takes several files and may be given several times. */
export function addContactsOption(command: Command): Command {
  return command.option(
    '--contacts <file...>',
    "contact files in place of the campaign's, relative to the working folder; - is standard input",
  );
}

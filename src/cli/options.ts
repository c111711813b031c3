import { InvalidArgumentError } from 'commander';
import { personPattern } from '../domain/access.ts';
import { InputError } from '../domain/problems.ts';
import { isDayOrTime } from '../domain/scalar-text.ts';
import { inProject } from '../engine/definition-files.ts';
import { flag, type OptionValues, option } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import type { Shell } from './shell.ts';
import { notInListError } from './usage-errors.ts';

/** Options that several commands have, and the parsers of their values. */

/** The description of an argument or option that names a run. */
export const runArgument = 'the id of a run, its beginning, or `latest`';

export const campaignArgument = 'the campaign: its file (YAML), or its name in the folder campaigns';

/** Relative to the working folder. */
export const campaignsFolder = ({ settings }: Shell): string =>
  inProject('campaigns', settings.workingFolder);

export const campaignsOption = option(
  '--campaigns <folder>',
  'folder of the campaigns (default: that of the project)',
);

/** Options whose readers load a package. */
export const loadDurationReader = async () => (await import('./scalar-options.ts')).parseDuration;
export const loadLocalTimeReader = async () => (await import('./scalar-options.ts')).parseLocalTime;

export const countryOption = (summary: string) =>
  option('--country <country>', summary, {
    late: async () => (await import('./country-option.ts')).parseCountry,
  });

const loadTimeZoneReader = async () => (await import('./time-zone-option.ts')).parseTimeZone;

export const timeZoneOption = (summary: string) =>
  option('--time-zone <zone>', summary, { late: loadTimeZoneReader });

/** @param what the zone of what */
export const utcZoneOption = (what: string) =>
  option('--time-zone <zone>', `${what}, such as Pacific/Auckland`, {
    late: loadTimeZoneReader,
    otherwise: 'UTC',
  });

export const contactsOption = option(
  '--contacts <file>',
  "a contact file instead of the campaign's, relative to the working folder; - is standard input; can be repeated",
  { read: (file: string, files: readonly string[] = []): readonly string[] => [...files, file] },
);

export const limitOption = option(
  '--limit <number>',
  'only the first recipients, in file order; `volley run <campaign> --of <run>` sends to the others later',
  { read: parseCount },
);

export const testOption = option(
  '--test-to <address...>',
  'a test: sends the first rows with their values to these addresses of yours, one row each, or as many as --limit says',
  { conflicts: ['of', 'only', 'again'] },
);

export const originOption = option(
  '--of <run>',
  'only recipients that this run, or another run of its contacts, neither reached nor may reach: the rest after --limit, or fixed contacts; its id, its beginning, or `latest` (the newest run of the campaign)',
);

/** Of commands that send a run until it is over. */
export const sendingExits = {
  3: exitCodes[3],
  4: 'the run is paused, was cancelled, or waits for approval',
  130: 'interrupted; `volley resume` continues the run',
};

export const reasonOption = option('--reason <words>', 'the reason, for the audit trail');

/** What pause and cancel take. @param byDefault the reason */
export const stopOptions = (byDefault: string) =>
  [
    option('--reason <words>', 'the reason, for the audit trail', { otherwise: byDefault }),
    flag('--json', "print the run's summary as JSON"),
  ] as const;

/** Options of lists with up to millions of rows. */
export const listOptions = [
  option('--limit <number>', 'list so many at most (default: 100, or all with --json or --csv)', {
    read: parseWholeNumber,
  }),
  flag('--json', 'print one JSON object a line'),
  flag('--csv', 'print as CSV, with no text that a spreadsheet computes', { conflicts: ['json'] }),
] as const;

export type ListOutput = OptionValues<typeof listOptions>;

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('expected a port from 0 to 65535.');
}

export function parseWholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number.');
}

export function parseCount(text: string): number {
  const count = parseWholeNumber(text);
  if (count > 0) return count;
  throw new InvalidArgumentError('expected a whole number above 0.');
}

/** @returns milliseconds */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (/^(?:\d+|\d*\.\d+)$/.test(text) && seconds >= 0.1 && seconds <= 3_600) return seconds * 1_000;
  throw new InvalidArgumentError('expected seconds from 0.1 to 3600, such as 2.');
}

export function parseShare(text: string): number {
  const share = Number(text);
  if (/^(?:\d+|\d*\.\d+)$/.test(text) && share <= 1) return share;
  throw new InvalidArgumentError('expected a share from 0 to 1, such as 0.05.');
}

export function parsePerson(text: string): string {
  if (personPattern.test(text)) return text.trim();
  throw new InvalidArgumentError('expected the name of a person, of at most 200 printable characters.');
}

/** A time in UTC; a day begins at midnight. */
export function parseTime(text: string): Date {
  return requireTime(text, timeForms);
}

const timeForms = 'a time in UTC, such as 2026-11-21 or 2026-11-21T08:00:00Z';

function requireTime(text: string, forms: string): Date {
  if (isDayOrTime(text)) return new Date(text);
  throw new InvalidArgumentError(`expected ${forms}.`);
}

const durations: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time before now: `15m`, or as `parseTime`. */
export function parsePast(text: string): (now: Date) => Date {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number !== undefined) return (now) => new Date(now.getTime() - Number(number) * (durations[unit] ?? 0));
  const time = requireTime(text, `a time before now, such as 15m, or ${timeForms}`);
  return () => time;
}

export function parseCampaignName(text: string): string {
  // Also where upper and lower case are the same in file names.
  if (text.toLowerCase() === 'accounts')
    throw new InvalidArgumentError('expected another name: campaigns/accounts.yaml holds the accounts.');
  if (/^[A-Za-z0-9][\w-]{0,59}$/.test(text)) return text;
  throw new InvalidArgumentError('expected a name of at most 60 letters, digits, "-" and "_".');
}

/** A reader of states that are separated by commas, of an option that can be repeated. */
export function statesReader<Word extends string>(
  known: readonly Word[],
): (text: string, before?: readonly Word[]) => readonly Word[] {
  return (text, before = []) => {
    const words = text.split(',').map((written) => {
      const word = known.find((each) => each === written.trim());
      if (word !== undefined) return word;
      throw notInListError(written.trim(), known, ', separated by commas');
    });
    return [...before, ...words];
  };
}

export function requirePeriod(from: string | undefined, to: string | undefined): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw new InputError([{ where: '--to', what: `${to} is not after --from ${from}.` }]);
}

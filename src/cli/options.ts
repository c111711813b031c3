import { InvalidArgumentError } from 'commander';
import { InputError } from '../domain/problems.ts';
import { inProject } from '../engine/definition-files.ts';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { type ReportFormat, reportFormats, runReportFormats } from '../report/formats/sheet.ts';
import { argument, flag, type OptionValues, option } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import {
  loadCountryReader,
  loadLocalTimeReader,
  parseCount,
  parsePast,
  parsePort,
  parseWholeNumber,
} from './option-readers.ts';
import type { Shell } from './shell.ts';

/** Arguments and options that several commands have. */

export const runArgument = 'the id of a run, its beginning, or `latest`';

export const anyRunArgument = argument('[run]', `${runArgument}; without one, all runs`);

export const formerRunOption = option('--run <run>', '', { retired: 'the argument `<run>`' });

export const campaignArgument = 'the campaign: its file (YAML), or its name in the folder campaigns';

/** Relative to the working folder. */
export const campaignsFolder = ({ settings }: Shell): string =>
  inProject('campaigns', settings.workingFolder);

export const campaignsOption = option(
  '--campaigns <folder>',
  'folder of the campaigns (default: that of the project)',
);

export const countryOption = option('--country <country>', 'country of numbers without a code, such as NZ', {
  loadReader: loadCountryReader,
});

export const portOption = (byDefault: number) =>
  option('--port <number>', 'port that it listens on; 0: any free port', {
    read: parsePort,
    default: byDefault,
  });

export const jsonFlag = flag('--json', 'print JSON; of a list, one object a line');

export const sinceOption = (summary: string) =>
  option('--since <time>', `${summary}, such as 15m, 2026-11-21 or 2026-11-21T08:00:00Z`, {
    read: parsePast,
  });

/** @param what of the period, such as `requests sent` */
export const periodOptions = (what: string, loadReader = loadLocalTimeReader) =>
  [
    option(
      '--from <date>',
      `${what} from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30, in --time-zone`,
      { loadReader },
    ),
    option('--to <date>', `${what} before this time`, { loadReader }),
  ] as const;

/** @throws InputError if it is empty */
export function periodOf(
  { timeZone = 'UTC' }: Pick<Shell, 'timeZone'>,
  { from, to }: OptionValues<ReturnType<typeof periodOptions>>,
): { readonly from: string | null; readonly until: string | null; readonly timeZone: string } {
  if (from !== undefined && to !== undefined && from >= to)
    throw new InputError([{ where: '--to', what: `${to} is not after --from ${from}.` }]);
  return { from: from ?? null, until: to ?? null, timeZone };
}

export const contactsOption = option(
  '--contacts <file>',
  "a contact file instead of the campaign's; -: standard input; can be repeated",
  { read: (file: string, files: readonly string[] = []): readonly string[] => [...files, file] },
);

const limitOption = option(
  '--limit <number>',
  'only the first recipients; `volley run <campaign> --of <run>` sends to the others later',
  { read: parseCount },
);

const testOption = option(
  '--test-to <address...>',
  'a test: sends the first rows to these addresses of yours, one each, or as many as --limit says',
  { conflicts: ['of', 'only', 'again'] },
);

const originOption = option(
  '--of <run>',
  'only recipients that this run (or `latest`, of the campaign) and other runs of its contacts did not reach: the rest after --limit, or fixed contacts',
);

/** What is sent of a campaign, for run and plan. */
export const campaignOptions = [contactsOption, originOption, limitOption, testOption] as const;

/** Exit codes of commands that send a run until it is over. */
export const sendingExits = {
  3: exitCodes[3],
  4: 'the run is paused, was cancelled, or waits for approval',
  130: 'interrupted; `volley resume` continues the run',
};

/** Exit codes of commands that ask the service about requests, until Ctrl-C. */
export const lookUpExits = {
  4: 'the service refused the credential',
  130: 'stopped before the end',
};

export const dryRunFlag = flag('--dry-run', 'only print what would be erased');
export const keptAnyway = 'Billing and suppressions stay. docs/how-to/personal-data.md lists what is kept.';

const forAuditTrail = 'reason for the audit trail';

export const reasonOption = option('--reason <words>', forAuditTrail);
export const neededReasonOption = option('--reason <words>', forAuditTrail, { required: true });

/** What pause and cancel take. @param byDefault the reason */
export const stopOptions = (byDefault: string) =>
  [option('--reason <words>', forAuditTrail, { default: byDefault }), jsonFlag] as const;

/** Options of lists with up to millions of rows. */
export const listOptions = [
  option('--limit <number>', 'maximum of lines (default: 100; all with --json or --csv)', {
    read: parseWholeNumber,
  }),
  jsonFlag,
  flag('--csv', 'print CSV, safe for spreadsheets', { conflicts: ['json'] }),
] as const;

export type ListOutput = OptionValues<typeof listOptions>;

const formatSummary = (defaultFormat: ReportFormat): string =>
  `default: by the ending of --out, otherwise ${defaultFormat}`;

const outputOptions = [
  flag('--json', 'as --format json', { conflicts: ['format'] }),
  option('--out <file>', 'write to this new file'),
] as const;

export type ReportOptions = OptionValues<ReturnType<typeof reportOptions>>;

export const reportOptions = (defaultFormat: ReportFormat) =>
  [
    option('--format <format>', formatSummary(defaultFormat), { choices: reportFormats }),
    option(
      '--columns <names>',
      'only these columns, with commas; all (default: all, and of a table the first eight)',
    ),
    ...outputOptions,
  ] as const;

export const severalTables =
  'The report of a run has several tables. For a single table, use `volley report contacts` or `volley report failures`.';

/** A report with several tables lacks some formats. */
export const runReportOptions = [
  option('--format <format>', `${formatSummary('table')}; one of ${runReportFormats.join(', ')}`, {
    read: (text: string): ReportFormat => {
      const format = runReportFormats.find((each) => each === text);
      if (format !== undefined) return format;
      const expected = `expected ${oneOf(runReportFormats)}.${didYouMean(text, runReportFormats)}`;
      throw new InvalidArgumentError(`${expected} ${severalTables}`);
    },
  }),
  ...outputOptions,
] as const;

import { InvalidArgumentError } from 'commander';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { type ReportFormat, reportFormats, runReportFormats } from '../report/formats/sheet.ts';
import { flag, type OptionValues, option } from './command.ts';

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

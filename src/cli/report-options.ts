import { type Command, InvalidArgumentError, Option } from 'commander';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { type ReportFormat, reportFormats } from '../report/formats/sheet.ts';

export type ReportOptions = {
  readonly format?: ReportFormat;
  readonly json?: true;
  readonly out?: string;
};

export function addReportOptions(command: Command, defaultFormat: ReportFormat): Command {
  return addFormatOptions(command, defaultFormat, (format) => format.choices(reportFormats));
}

export type Advice = string;

export const severalTables: Advice =
  'The report of a run has several tables. For a single table, use `volley report contacts` or `volley report failures`.';

/** A report with several tables lacks some formats. */
export function addLimitedReportOptions(
  command: Command,
  defaultFormat: ReportFormat,
  formats: readonly ReportFormat[],
  advice: Advice,
): Command {
  const parse = (text: string): string => {
    if (formats.some((format) => format === text)) return text;
    throw new InvalidArgumentError(
      `expected ${oneOf(formats)}.${didYouMean(text, formats)}${advice === '' ? '' : ` ${advice}`}`,
    );
  };
  return addFormatOptions(command, defaultFormat, (format) => {
    format.description += ` (choices: ${formats.map((each) => `"${each}"`).join(', ')})`;
    return format.argParser(parse);
  });
}

function addFormatOptions(
  command: Command,
  defaultFormat: ReportFormat,
  limit: (option: Option) => Option,
): Command {
  const option = new Option(
    '--format <format>',
    `the format of the report (default: by the ending of --out, otherwise ${defaultFormat})`,
  );
  return command
    .addOption(limit(option))
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .option('--out <file>', 'write to this new file (default: standard output)');
}

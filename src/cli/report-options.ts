import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { InputError } from '../domain/problems.ts';
import { type ReportFormat, reportFormats, type Sheet } from '../report/formats/sheet.ts';
import { sheetText } from '../report/formats/write.ts';
import { writeResult } from './output.ts';
import type { Shell } from './shell.ts';

/** What a command says of the form of its report. */
export type ReportOptions = {
  readonly format?: ReportFormat;
  readonly json?: true;
  readonly out?: string;
};

/** Of the commands that print a tabular report. */
export function addReportOptions(command: Command, standard: ReportFormat): Command {
  return addFormatOptions(command, standard, (format) => format.choices(reportFormats));
}

/** What there is instead of a format that a report has not; in words. */
type Instead = string;

/** Of a command whose report has several tables, and so not every format. */
export function addSomeReportOptions(
  command: Command,
  standard: ReportFormat,
  formats: readonly ReportFormat[],
  instead: Instead,
): Command {
  const parse = (text: string): string => {
    if (formats.some((format) => format === text)) return text;
    throw new InvalidArgumentError(`Allowed choices are ${formats.join(', ')}. ${instead}`);
  };
  return addFormatOptions(command, standard, (format) => {
    format.description += ` (choices: ${formats.map((each) => `"${each}"`).join(', ')})`;
    return format.argParser(parse);
  });
}

function addFormatOptions(
  command: Command,
  standard: ReportFormat,
  limit: (option: Option) => Option,
): Command {
  const option = new Option(
    '--format <format>',
    `the form of the report (default: as --out ends, otherwise ${standard})`,
  );
  return command
    .addOption(limit(option))
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .option('--out <file>', 'write to this file, which must not be there yet; standard output by default');
}

/**
 * The format that is meant, of those that the report has.
 *
 * @throws InputError when it is another one by the ending of its file, or a workbook would be written to a terminal
 */
export function chosenFormat<Format extends ReportFormat>(
  { resultTerminal }: Pick<Shell, 'resultTerminal'>,
  { format, json, out }: ReportOptions,
  standard: ReportFormat,
  formats: readonly Format[],
  instead: Instead,
): Format {
  const named = json ? 'json' : (format ?? formatOf(out) ?? standard);
  const chosen = formats.find((each) => each === named);
  if (chosen === undefined) throw new InputError([{ where: `--out ${out}`, what: instead }]);
  if (chosen === 'xlsx' && out === undefined && resultTerminal) {
    const what = 'A workbook is not for a terminal; say where it goes with --out <file>.';
    throw new InputError([{ where: '--format xlsx', what }]);
  }
  return chosen;
}

/** Writes a report in the format, and to the place, that its options name. */
export type WriteSheet = <Row>(sheet: Sheet<Row>) => Promise<void>;

/**
 * Asked before the report is made, so that a mistake does not cost its making.
 *
 * @throws InputError when a workbook would be written to a terminal
 */
export function sheetWriter(
  shell: Pick<Shell, 'resultTerminal' | 'result' | 'settings'>,
  options: ReportOptions,
  standard: ReportFormat,
): WriteSheet {
  const chosen = chosenFormat(shell, options, standard, reportFormats, '');
  return (sheet) => writeResult(shell, sheetText(sheet, chosen), options.out);
}

/** Whoever asks for `bill.xlsx` means a workbook. */
function formatOf(out: string | undefined): ReportFormat | undefined {
  const ending = out === undefined ? '' : extname(out).slice(1).toLowerCase();
  return reportFormats.find((format) => format === ending);
}

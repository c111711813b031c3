import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import { InputError } from '../domain.ts';
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
  return command
    .addOption(
      new Option(
        '--format <format>',
        `the form of the report (default: as --out ends, otherwise ${standard})`,
      ).choices(reportFormats),
    )
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .option('--out <file>', 'write to this file, which must not be there yet; standard output by default');
}

/** Writes a report in the format, and to the place, that its options name. */
export type WriteSheet = <Row>(sheet: Sheet<Row>) => Promise<void>;

/**
 * Asked before the report is made, so that a mistake does not cost its making.
 *
 * @throws InputError when a workbook would be written to a terminal
 */
export function sheetWriter(
  { resultTerminal }: Pick<Shell, 'resultTerminal'>,
  { format, json, out }: ReportOptions,
  standard: ReportFormat,
): WriteSheet {
  const chosen = json ? 'json' : (format ?? formatOf(out) ?? standard);
  if (chosen === 'xlsx' && out === undefined && resultTerminal) {
    const what = 'A workbook is not for a terminal; say where it goes with --out <file>.';
    throw new InputError([{ where: '--format xlsx', what }]);
  }
  return (sheet) => writeResult(sheetText(sheet, chosen), out);
}

/** Whoever asks for `bill.xlsx` means a workbook. */
function formatOf(out: string | undefined): ReportFormat | undefined {
  const ending = out === undefined ? '' : extname(out).slice(1).toLowerCase();
  return reportFormats.find((format) => format === ending);
}

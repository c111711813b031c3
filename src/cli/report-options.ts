import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { InputError } from '../domain/problems.ts';
import { didYouMean, oneOf } from '../platform/suggestions.ts';
import { formatSheet } from '../report/formats/format-sheet.ts';
import { type ReportFormat, reportFormats, type Sheet } from '../report/formats/sheet.ts';
import { printableFile } from '../report/printable.ts';
import { plainScreen, type Screen } from '../report/screen.ts';
import type { Shell } from './shell.ts';
import { writeResult } from './write-result.ts';

export type ReportOptions = {
  readonly format?: ReportFormat;
  readonly json?: true;
  readonly out?: string;
};

export function addReportOptions(command: Command, defaultFormat: ReportFormat): Command {
  return addFormatOptions(command, defaultFormat, (format) => format.choices(reportFormats));
}

type Advice = string;

/** Of a command whose report has several tables, and so not every format. */
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
    `the form of the report (default: as --out ends, otherwise ${defaultFormat})`,
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
export function chooseFormat<Format extends ReportFormat>(
  { resultTerminal }: Pick<Shell, 'resultTerminal'>,
  { format, json, out }: ReportOptions,
  defaultFormat: ReportFormat,
  formats: readonly Format[],
  advice: Advice,
): Format {
  const named = json ? 'json' : (format ?? formatOf(out) ?? defaultFormat);
  refuseEnding(out, named, format !== undefined || json === true);
  const chosen = formats.find((each) => each === named);
  if (chosen === undefined) throw new InputError([{ where: `--out ${out}`, what: advice }]);
  if (chosen === 'xlsx' && out === undefined && resultTerminal) {
    const what = 'A workbook is not for a terminal; say where it goes with --out <file>.';
    throw new InputError([{ where: '--format xlsx', what }]);
  }
  return chosen;
}

export type WriteSheet = <Row>(sheet: Sheet<Row>) => Promise<void>;

/**
 * Asked before the report is made, so that a mistake does not cost its making.
 *
 * @throws InputError when a workbook would be written to a terminal
 */
export function sheetWriter(
  shell: Pick<Shell, 'resultTerminal' | 'result' | 'settings' | 'screen'>,
  options: ReportOptions & { readonly timeZone?: string },
  defaultFormat: ReportFormat,
): WriteSheet {
  const chosen = chooseFormat(shell, options, defaultFormat, reportFormats, '');
  return (sheet) => writeReport(shell, options, chosen, formatSheet(sheet, chosen, screenOf(shell, options)));
}

/** What a report is printed on. Where its dates are of a zone, so are all times on the screen. */
export function screenOf(
  { screen }: Pick<Shell, 'screen'>,
  { out, timeZone }: Pick<ReportOptions, 'out'> & { readonly timeZone?: string },
): Screen {
  const printedOn = out === undefined ? screen : plainScreen;
  return timeZone === undefined ? printedOn : { ...printedOn, zone: timeZone };
}

/**
 * Writes a report to its file or to standard output. On a screen, every format but the table (whose cells are safe already)
 * has its control and bidi characters shown.
 *
 * @throws InputError when the file cannot be made
 */
export async function writeReport(
  shell: Pick<Shell, 'resultTerminal' | 'result' | 'settings'>,
  { out }: Pick<ReportOptions, 'out'>,
  format: ReportFormat,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const onScreen = shell.resultTerminal && out === undefined && format !== 'table';
  await writeResult(shell, onScreen ? printablePieces(pieces) : pieces, out);
}

async function* printablePieces(
  pieces: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  for await (const piece of pieces) yield typeof piece === 'string' ? printableFile(piece) : piece;
}

/** The endings of files, without the dot, and the formats they are for. */
const endings: ReadonlyMap<string, ReportFormat> = new Map<string, ReportFormat>([
  ...reportFormats.filter((format) => format !== 'table').map((format) => [format, format] as const),
  ['txt', 'table'],
  ['htm', 'html'],
  ['jsonl', 'ndjson'],
]);

function endingOf(out: string | undefined): string {
  return out === undefined ? '' : extname(out).slice(1).toLowerCase();
}

/** A file called `bill.xlsx` is to be a workbook. */
function formatOf(out: string | undefined): ReportFormat | undefined {
  return endings.get(endingOf(out));
}

/**
 * A name that promises what is not in the file would be opened by the wrong program.
 *
 * @param isExplicit whether the format was asked for by name: then an ending that promises nothing is right
 * @throws InputError
 */
function refuseEnding(out: string | undefined, format: ReportFormat, isExplicit: boolean): void {
  const ending = endingOf(out);
  if (ending === '' || endings.get(ending) === format) return;
  const isText = ending === 'txt' && format !== 'xlsx';
  if (isExplicit && (isText || (!endings.has(ending) && ending !== 'pdf'))) return;
  const known = [...endings.keys()].map((each) => `.${each}`);
  const what =
    ending === 'pdf'
      ? 'No report is written as PDF. Take .html, and print it or save it as PDF.'
      : endings.has(ending)
        ? `The file is called .${ending} and would hold ${format}. Leave --format out, or give the file another name.`
        : `No report is written as .${ending}; expected ${oneOf(known)}.${didYouMean(`.${ending}`, known)} --format says what is meant where the name may end otherwise.`;
  throw new InputError([{ where: `--out ${out}`, what }]);
}

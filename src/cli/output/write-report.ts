import { tmpdir } from 'node:os';
import { extname } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import type { AsOf } from '../../domain/replica.ts';
import { count } from '../../platform/sentence.ts';
import { withAll } from '../../platform/spooled-file.ts';
import { didYouMean, oneOf } from '../../platform/suggestions.ts';
import { columnsFor } from '../../report/column.ts';
import { chooseColumns, usualColumns } from '../../report/column-choice.ts';
import { formatSheet } from '../../report/formats/format-sheet.ts';
import { type ReportFormat, reportFormats, type Sheet } from '../../report/formats/sheet.ts';
import { printableFile } from '../../report/printable.ts';
import { plainScreen, type Screen } from '../../report/screen.ts';
import { formatAsOf } from '../../report/time.ts';
import type { ReportOptions } from '../options.ts';
import type { Shell } from '../shell.ts';
import { OutputError } from './output-error.ts';
import { writeResult } from './write-result.ts';

/** @throws InputError for a missing format, an ending of another format, or a workbook on a terminal */
export function chooseFormat<Format extends ReportFormat>(
  { resultTerminal }: Pick<Shell, 'resultTerminal'>,
  { format, json, out }: ReportOptions,
  {
    defaultFormat,
    formats,
    advice,
  }: { readonly defaultFormat: ReportFormat; readonly formats: readonly Format[]; readonly advice: string },
): Format {
  const named = json ? 'json' : (format ?? formatOf(out) ?? defaultFormat);
  refuseEnding(out, named, format !== undefined || json === true);
  const chosen = formats.find((each) => each === named);
  if (chosen === undefined) throw new InputError([{ where: `--out ${out}`, what: advice }]);
  if (chosen === 'xlsx' && out === undefined && resultTerminal) {
    const what = 'A terminal cannot show a workbook. Name a file with --out <file>.';
    throw new InputError([{ where: '--format xlsx', what }]);
  }
  return chosen;
}

export type WriteSheet = <Row>(sheet: Sheet<Row>) => Promise<void>;

/** Checks the options before the report is made, like `chooseFormat`. */
export function sheetWriter(
  shell: Pick<Shell, 'resultTerminal' | 'result' | 'settings' | 'screen' | 'note'>,
  options: ReportOptions & { readonly timeZone?: string },
  defaultFormat: ReportFormat,
): WriteSheet {
  const chosen = chooseFormat(shell, options, { defaultFormat, formats: reportFormats, advice: '' });
  return async (sheet) => {
    const named = options.columns === undefined ? undefined : chooseColumns(sheet.columns, options.columns);
    const filled = columnsFor(sheet.columns, 'screen').filter(({ blank }) => !blank);
    const columns = named ?? (chosen === 'table' ? usualColumns(filled) : sheet.columns);
    let lines = 0;
    async function* counted() {
      for await (const batch of sheet.rows) {
        lines += batch.length;
        yield batch;
      }
    }
    const pieces = formatSheet({ ...sheet, columns, rows: counted() }, chosen, screenOf(shell, options));
    const what = () => `${count(lines, 'line')} to `;
    await writeReport(shell, options, { format: chosen, asOf: sheet.asOf, pieces, what });
    const left = filled.filter((column) => !named && !columns.includes(column)).map(({ title }) => title);
    if (left.length > 0) shell.note(`Not shown: ${left.join(', ')}. --columns all has all of them.`);
  };
}

/** The zone of a report's dates is the zone of all its times. */
export function screenOf(
  { screen }: Pick<Shell, 'screen'>,
  { out, timeZone }: Pick<ReportOptions, 'out'> & { readonly timeZone?: string },
): Screen {
  const printedOn = out === undefined ? screen : plainScreen;
  return timeZone === undefined ? printedOn : { ...printedOn, zone: timeZone };
}

/**
 * Shows control and bidi characters on a terminal; the cells of a table have none. Names the file that was written, and
 * how old the report is if there is a replica. A report from a replica is written when all of it was read.
 *
 * @param what is in it
 * @throws InputError
 */
export async function writeReport(
  shell: Pick<Shell, 'resultTerminal' | 'result' | 'settings' | 'note'>,
  { out }: Pick<ReportOptions, 'out'>,
  {
    format,
    asOf,
    pieces,
    what = () => '',
  }: {
    readonly format: ReportFormat;
    readonly asOf: AsOf;
    readonly pieces: AsyncIterable<string | Uint8Array>;
    readonly what?: () => string;
  },
): Promise<void> {
  const onScreen = shell.resultTerminal && out === undefined && format !== 'table';
  const shown = onScreen ? printablePieces(pieces) : pieces;
  if (asOf.read?.from !== 'replica') await writeResult(shell, shown, out);
  else {
    const failure = (error: unknown) => new OutputError(tmpdir(), error);
    await withAll(shown, failure, (all) => writeResult(shell, all, out));
  }
  if (asOf.read && format !== 'table') shell.note(`As of ${formatAsOf(asOf)}.`);
  if (out !== undefined) shell.note(`Wrote ${what()}${out}.`);
}

async function* printablePieces(
  pieces: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  for await (const piece of pieces) yield typeof piece === 'string' ? printableFile(piece) : piece;
}

const endings: ReadonlyMap<string, ReportFormat> = new Map<string, ReportFormat>([
  ...reportFormats.filter((format) => format !== 'table').map((format) => [format, format] as const),
  ['txt', 'table'],
  ['htm', 'html'],
  ['jsonl', 'ndjson'],
]);

function endingOf(out: string | undefined): string {
  return out === undefined ? '' : extname(out).slice(1).toLowerCase();
}

function formatOf(out: string | undefined): ReportFormat | undefined {
  return endings.get(endingOf(out));
}

/**
 * Refuses the ending of another format, because the wrong program would open the file.
 *
 * @param isExplicit whether the user named the format; then an unknown ending is allowed
 */
function refuseEnding(out: string | undefined, format: ReportFormat, isExplicit: boolean): void {
  const ending = endingOf(out);
  if (ending === '' || endings.get(ending) === format) return;
  const isText = ending === 'txt' && format !== 'xlsx';
  if (isExplicit && (isText || (!endings.has(ending) && ending !== 'pdf'))) return;
  const known = [...endings.keys()].map((each) => `.${each}`);
  const what =
    ending === 'pdf'
      ? 'Volley writes no PDF. Use .html, and print it or save it as PDF.'
      : endings.has(ending)
        ? `The file is called .${ending} and would contain ${format}. Omit --format, or give the file another name.`
        : `There is no format .${ending}; expected ${oneOf(known)}.${didYouMean(`.${ending}`, known)} For another ending, name the format with --format.`;
  throw new InputError([{ where: `--out ${out}`, what }]);
}

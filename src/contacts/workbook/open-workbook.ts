import { tmpdir } from 'node:os';
import { extname } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import { count } from '../../platform/sentence.ts';
import { cellPlace, columnLetters } from '../../platform/sheet-cells.ts';
import { type SpooledFile, spool } from '../../platform/spooled-file.ts';
import { didYouMean, listNames } from '../../platform/suggestions.ts';
import { cellFault } from '../cell-notes.ts';
import { pieceSize } from '../file-bytes.ts';
import { checkNames, findHeaderRow, looksLikeTitle, maxColumns, tooManyColumns } from '../header.ts';
import {
  type ContactFile,
  isResultFile,
  type KeepBytes,
  type ReadingOptions,
  toContactFile,
} from '../opened-file.ts';
import type { Row } from '../rows.ts';
import { type OpenedSheet, openSheet, readBytesBesideRows } from './open-sheet.ts';
import type { SheetRow } from './sheet-rows.ts';
import { readWorkbookParts, type WorkbookParts, type WorkbookSheet } from './workbook-parts.ts';
import { openZip, type ZipArchive } from './zip-archive.ts';

type SheetOptions = Pick<ReadingOptions, 'sheet' | 'skipLines' | 'maxUnpacked'>;

/**
 * Opens a sheet of a workbook as a contact file. Its rows are streamed; only texts that cells share are in memory.
 *
 * @param keep sees the bytes of the file in step with its rows
 * @throws InputError when the workbook, the sheet or its header cannot be read
 */
export async function openWorkbook(
  bytes: AsyncIterable<Buffer>,
  name: string,
  options: SheetOptions,
  keep: KeepBytes | undefined,
): Promise<ContactFile> {
  // A ZIP archive is read from its end, and the input can be a pipe.
  const file = await spool(bytes, (error) => noTemporaryCopy(error, name));
  try {
    const zip = await openZip(file, name, options.maxUnpacked);
    const parts = await readWorkbookParts(zip, name);
    refuseOtherEnding(name);
    return await openNamedSheet({ file, zip, parts, name }, options, keep);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Of an error of the system. */
function noTemporaryCopy(error: unknown, name: string): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  const what = `The workbook cannot be copied to the temporary folder ${tmpdir()} (${unreadableReason(error)}). Free space there, or name another folder with TMPDIR.`;
  return new InputError([{ where: name, what }], { cause: error });
}

const otherEndings = /^\.(?:csv|tsv|tab|txt|xls|xlsb|ods)$/i;

function refuseOtherEnding(name: string): void {
  const ending = extname(name);
  if (!otherEndings.test(ending)) return;
  const what = `The file is an Excel workbook (xlsx), and its name ends with ${ending}. Name it .xlsx, or open it in the spreadsheet program and save the sheet as "CSV UTF-8".`;
  throw new InputError([{ where: name, what }]);
}

type Workbook = {
  readonly file: SpooledFile;
  readonly zip: ZipArchive;
  readonly parts: WorkbookParts;
  readonly name: string;
};

/** A result file is read whatever the campaign's options are, because Volley wrote it. */
async function openNamedSheet(
  workbook: Workbook,
  options: SheetOptions,
  keep: KeepBytes | undefined,
): Promise<ContactFile> {
  const { name, parts } = workbook;
  const { skipLines = 0 } = options;
  const first = parts.sheets.find(({ hidden }) => !hidden);
  if (options.sheet !== undefined || skipLines > 0) {
    const result = first && (await openSheet(workbook, first, 0));
    const [row] = result?.first ?? [];
    if (first && result && row && isResultFile(row.values))
      return openedSheet(workbook, first, result, { skipLines: 0, keep });
    await result?.close();
  }
  const sheet = options.sheet === undefined ? first : findSheet(parts.sheets, options.sheet, name);
  if (!sheet) throw new InputError([{ where: name, what: 'The workbook has no visible sheet with cells.' }]);
  return openedSheet(workbook, sheet, await openSheet(workbook, sheet, skipLines), { skipLines, keep });
}

/** Spreadsheet programs ignore upper and lower case in names of sheets. */
function findSheet(sheets: readonly WorkbookSheet[], wanted: string, name: string): WorkbookSheet {
  const compared = (text: string): string => text.trim().toLowerCase();
  const found = sheets.find((each) => compared(each.name) === compared(wanted));
  if (found) return found;
  const names = sheets.map((each) => each.name);
  const what = `There is no sheet "${wanted}" ("contacts.sheet").${didYouMean(wanted, names)} The sheets are ${listNames(names.map((each) => `"${each}"`))}.`;
  throw new InputError([{ where: name, what }]);
}

function openedSheet(
  { file, parts, name }: Workbook,
  { name: sheet }: WorkbookSheet,
  opened: OpenedSheet,
  { skipLines, keep }: { readonly skipLines: number; readonly keep: KeepBytes | undefined },
): ContactFile {
  const place = (line: number, column?: number): string => `${name}:${cellPlace(sheet, line, column)}`;
  const { names, line, rows } = readHeader(opened, skipLines, name, place);
  if (isResultFile(names)) refuseContinued(parts.sheets, sheet, name);
  opened.rows.continueWith(names.length);
  let lastLine = line;
  async function* batches(): AsyncGenerator<readonly Row[], void, undefined> {
    const read = (batch: readonly SheetRow[]): readonly Row[] => {
      lastLine = batch.at(-1)?.line ?? lastLine;
      return batch.map((row) => toRow(row, names.length));
    };
    yield read(rows);
    for await (const batch of opened.rest) yield read(batch);
  }
  return toContactFile({
    name,
    names,
    place,
    format: () => ({
      kind: 'workbook',
      sheet,
      otherSheets: parts.sheets
        .filter((each) => !each.hidden && each.name !== sheet)
        .map((each) => each.name),
      hiddenRows: opened.rows.hiddenRows,
      skipLines,
    }),
    rows: keep
      ? readBytesBesideRows(batches(), keep(file.bytes(pieceSize)), () => opened.rows.progress * file.size)
      : batches(),
    advice: `Check the sheet ("contacts.sheet"; "${sheet}" was read) and the rows before its header ("contacts.skipLines").`,
    lines: () => lastLine,
    close: async () => {
      await opened.close();
      await file.close();
    },
  });
}

type Header = {
  readonly names: readonly string[];
  readonly line: number;
  /** Those after it in the first batch. */
  readonly rows: readonly SheetRow[];
};

function readHeader(
  { first }: OpenedSheet,
  skipLines: number,
  name: string,
  place: ContactFile['place'],
): Header {
  const [header, ...rows] = first;
  if (!header) {
    const what =
      skipLines === 0
        ? 'The sheet is empty; expected a row of column names.'
        : `The sheet has nothing after the ${count(skipLines, 'row')} of "contacts.skipLines"; expected a row of column names.`;
    throw new InputError([{ where: name, what }]);
  }
  const { line, values, outside } = header;
  const isName = (value: string, column: number): boolean =>
    value.trim() !== '' || cellFault(header, column) !== undefined;
  const names = values.slice(0, values.findLastIndex(isName) + 1).map((value) => value.trim());
  if (outside !== undefined || names.length > maxColumns)
    throw new InputError([
      { where: place(line), what: tooManyColumns(`more than ${maxColumns.toLocaleString('en')}`) },
    ]);
  const faults = names.flatMap((_, column) => {
    const fault = cellFault(header, column);
    return fault === undefined ? [] : [{ where: place(line, column), what: `In the header, ${fault}.` }];
  });
  if (faults.length > 0) throw new InputError(faults);
  const below = findHeaderRow(
    names,
    rows.map((row) => ({ line: row.line, cells: row.values })),
  );
  if (below) throw new InputError([{ where: place(line), what: looksLikeTitle(below, 'row') }]);
  checkNames(names, (column) => place(line, column));
  return { names, line, rows };
}

/** A report of more rows than a sheet can have continues on the next one, which would be lost. */
function refuseContinued(sheets: readonly WorkbookSheet[], sheet: string, name: string): void {
  const next = sheets.find((each) => each.name === `${sheet} 2`);
  if (!next) return;
  const what = `The contacts continue on the sheet "${next.name}", which would not be read. Write the report as CSV: \`volley report contacts … --out left-out.csv\`.`;
  throw new InputError([{ where: name, what }]);
}

function toRow({ line, values, notes, outside }: SheetRow, width: number): Row {
  const beyond =
    outside ??
    (values.length > width ? values.findIndex((value, index) => index >= width && value.trim() !== '') : -1);
  if (beyond >= width) {
    const letters = columnLetters(beyond);
    const detail = `the cell ${letters}${line} has a value, but column ${letters} has no name in the header`;
    return { kind: 'broken', line, detail, text: values.join('\t') };
  }
  const whole =
    values.length === width ? values : Array.from({ length: width }, (_, index) => values[index] ?? '');
  return { kind: 'row', line, values: whole, notes };
}

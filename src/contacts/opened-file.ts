import { activeText, resultFileColumns } from '../domain/files.ts';
import { InputError } from '../domain/problems.ts';
import type { Encoding } from '../platform/encodings.ts';
import { asSentence } from '../platform/sentence.ts';
import type { Delimiter } from './csv.ts';
import type { Row } from './rows.ts';

/** The campaign's settings for its contact files; the rest is detected. */
export type ReadingOptions = {
  readonly encoding?: Encoding | undefined;
  readonly delimiter?: Delimiter | undefined;
  /** Physical lines; rows of a sheet. */
  readonly skipLines?: number;
  /** Of a workbook; by default its first visible one. */
  readonly sheet?: string | undefined;
  /** Bytes of the file when it is unpacked. More are refused. */
  readonly maxUnpacked?: number | undefined;
};

/** `encoding` is final only at the end, like `hiddenRows`, the rows of a sheet that are hidden and read too. */
export type FileFormat =
  | {
      readonly kind: 'csv';
      readonly encoding: Encoding;
      readonly delimiter: Delimiter;
      readonly byteOrderMark: boolean;
      readonly skipLines: number;
      readonly gzip: boolean;
    }
  | {
      readonly kind: 'workbook';
      readonly sheet: string;
      /** Visible ones that are not read. */
      readonly otherSheets: readonly string[];
      readonly hiddenRows: number;
      readonly skipLines: number;
    };

/** Passes on the bytes of a file that it keeps. */
export type KeepBytes = (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

export type ContactFile = {
  /** As errors show it. */
  readonly name: string;
  /** Trimmed column names. */
  readonly header: readonly string[];
  readonly format: () => FileFormat;
  /** Where a line or one of its columns (an index) stands: `list.csv:17:3`, `list.xlsx:Sheet1!C17`. */
  readonly place: (line: number, column?: number) => string;
  /**
   * The rows after the header, without blank lines. Can be read once.
   *
   * @throws InputError for bytes outside the encoding, or if more than half of the rows are broken
   */
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Physical lines read so far, header and skipped ones included. */
  readonly lines: () => number;
  /** Must be called unless reading the rows has begun: then the file is closed at their end. May be called again. */
  readonly close: () => Promise<void>;
};

type Table = Omit<ContactFile, 'header' | 'batches'> & {
  readonly names: readonly string[];
  readonly rows: AsyncIterable<readonly Row[]>;
  /** What to check when most rows are broken. */
  readonly advice: string;
};

/** In a result file that is read again, the escapes for spreadsheets are removed. */
export function toContactFile({ names, rows, advice, ...file }: Table): ContactFile {
  const isResult = isResultFile(names);
  return {
    ...file,
    header: isResult ? names.map(unescapeText) : names,
    batches: readRows(rows, isResult, file, advice),
  };
}

const maxShownBroken = 3;

/** @throws InputError at the end, if more than half of the rows are broken */
async function* readRows(
  batches: AsyncIterable<readonly Row[]>,
  isResult: boolean,
  { name, place, close }: Pick<ContactFile, 'name' | 'place' | 'close'>,
  advice: string,
): AsyncGenerator<readonly Row[], void, undefined> {
  let count = 0;
  let broken = 0;
  const shown: { where: string; what: string }[] = [];
  try {
    for await (const rows of batches) {
      count += rows.length;
      for (const row of rows) {
        if (row.kind !== 'broken') continue;
        broken++;
        if (shown.length < maxShownBroken)
          shown.push({ where: place(row.line), what: asSentence(row.detail) });
      }
      yield isResult ? rows.map(unescapeRow) : rows;
    }
  } finally {
    await close();
  }
  if (broken * 2 <= count) return;
  const what = `${broken} of ${count} rows are broken, so the file was probably read in the wrong format. ${advice} The first broken rows:`;
  throw new InputError([{ where: name, what }, ...shown]);
}

/** The column of a result file that names a row's earlier run. */
export const originColumn = 'Volley Run' satisfies (typeof resultFileColumns)[number];

/**
 * Columns that a result file can lack: the file when there was one, the variant of a run without any, and the run when an
 * operator removed it.
 */
const optional: readonly string[] = ['Volley File', 'Volley Variant', originColumn];

export function isResultFile(header: readonly string[]): boolean {
  return resultFileColumns.every((column) => optional.includes(column) || header.includes(column));
}

/** Whether a file begins with a result file's header, in whatever encoding a spreadsheet saved it. */
export function beginsResultFile(piece: Uint8Array): boolean {
  // Column names can contain line breaks, so the header can have several lines.
  const text = Buffer.from(piece.subarray(0, maxHeader)).toString('latin1').replaceAll('\0', '');
  return resultFileColumns.every((column) => optional.includes(column) || text.includes(column));
}

/** Bytes searched. */
const maxHeader = 65_536;

/** Removes the escape for spreadsheets (`report/escape-formula.ts`). */
export function unescapeText(text: string): string {
  return text.startsWith("'") && activeText.test(text) ? text.slice(1) : text;
}

function unescapeRow(row: Row): Row {
  return row.kind === 'row' ? { ...row, values: row.values.map(unescapeText) } : row;
}

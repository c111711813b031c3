import type { Encoding } from '../platform/encodings.ts';
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
   * The rows after the header, without blank lines. Can be read once. A caller that stops early, even before the
   * first batch, thereby closes the file.
   *
   * @throws InputError for bytes outside the encoding, or if more than half of the rows are broken
   */
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Physical lines read so far, header and skipped ones included. */
  readonly lines: () => number;
};

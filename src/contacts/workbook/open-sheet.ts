import type { Row } from '../rows.ts';
import { createCellReader, createNumberFormats } from './cell-text.ts';
import { noStrings, readSharedStrings, type SharedStrings } from './shared-strings.ts';
import { type SheetRow, SheetRows } from './sheet-rows.ts';
import {
  namePart,
  readXmlPart,
  unreadablePart,
  type WorkbookParts,
  type WorkbookSheet,
} from './workbook-parts.ts';
import type { ZipArchive } from './zip-archive.ts';

export type OpenedSheet = {
  readonly rows: SheetRows;
  /** The header and the rows after it; enough to see that it is one. */
  readonly first: readonly SheetRow[];
  /** All others. Can be read once. Reads the shared texts first. */
  readonly rest: AsyncGenerator<readonly SheetRow[], void, undefined>;
  readonly close: () => Promise<void>;
};

type Source = { readonly zip: ZipArchive; readonly parts: WorkbookParts; readonly name: string };

/** The number of rows that `findHeaderRow` looks at. */
const headerRows = 21;
/** Texts that are read for the header. Programs number them as they occur, so the header has the first. */
const headerTexts = 10_000;

/**
 * Several workbooks are opened before the first is read, so all shared texts are read, and held, only with the rows.
 *
 * @throws InputError when a part cannot be read
 */
export async function openSheet(
  source: Source,
  sheet: WorkbookSheet,
  skipLines: number,
): Promise<OpenedSheet> {
  const { zip, parts, name } = source;
  const formats = createNumberFormats(parts.from1904);
  if (parts.styles !== undefined) await readXmlPart(zip, parts.styles, name, formats.handlers);
  const start = async (texts: number): Promise<OpenedSheet & { readonly needsMore: boolean }> => {
    let strings = await readStrings(source, texts);
    let needsMore = false;
    const textOf = (number: number): string | undefined => {
      const text = strings.textOf(number);
      if (text !== undefined || strings.complete) return text;
      needsMore = true;
      return '';
    };
    const cells = createCellReader(textOf, formats);
    const rows = new SheetRows(zip.read(sheet.part), zip.sizeOf(sheet.part) ?? 0, cells);
    const reading = nameErrors(rows.read(), sheet.part, name);
    const first = await readFirst(reading, skipLines);
    async function* rest(): AsyncGenerator<readonly SheetRow[], void, undefined> {
      if (!strings.complete) strings = await readStrings(source, Number.POSITIVE_INFINITY);
      yield* reading;
    }
    const close = async (): Promise<void> => {
      strings = noStrings;
      await reading.return();
    };
    return { rows, first, rest: rest(), close, needsMore };
  };
  const opened = await start(headerTexts);
  if (!opened.needsMore) return opened;
  await opened.close();
  return start(Number.POSITIVE_INFINITY);
}

async function readFirst(
  batches: AsyncGenerator<readonly SheetRow[], void, undefined>,
  skipLines: number,
): Promise<readonly SheetRow[]> {
  const first: SheetRow[] = [];
  while (first.length < headerRows) {
    const { done, value } = await batches.next();
    if (done) break;
    for (const row of value) if (row.line > skipLines) first.push(row);
  }
  return first;
}

async function readStrings({ zip, parts, name }: Source, limit: number): Promise<SharedStrings> {
  const { sharedStrings: part } = parts;
  const size = part === undefined ? undefined : zip.sizeOf(part);
  if (part === undefined || size === undefined) return noStrings;
  return namePart(part, name, () => readSharedStrings(zip.read(part), size, limit));
}

async function* nameErrors<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  part: string,
  name: string,
): AsyncGenerator<Item, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    throw unreadablePart(error, part, name);
  }
}

/** Bytes that are passed between two batches. */
const maxStep = 1_048_576;

/**
 * Reads the bytes of a file beside its rows, so that a reader of both needs no more memory than for a batch.
 *
 * @param bytesSoFar counts the bytes that belong to the rows so far
 * @returns the batches, and empty ones where more bytes follow
 */
export async function* readBytesBesideRows(
  batches: AsyncIterable<readonly Row[]>,
  kept: AsyncIterable<Buffer>,
  bytesSoFar: () => number,
): AsyncGenerator<readonly Row[], void, undefined> {
  const bytes = kept[Symbol.asyncIterator]();
  let passed = 0;
  const isMoreBefore = async (end: number): Promise<boolean> => {
    for (const stop = passed + maxStep; passed < end; ) {
      if (passed >= stop) return true;
      const { done, value } = await bytes.next();
      if (done) return false;
      passed += value.length;
    }
    return false;
  };
  try {
    for await (const batch of batches) {
      yield batch;
      while (await isMoreBefore(bytesSoFar())) yield [];
    }
    while (await isMoreBefore(Number.POSITIVE_INFINITY)) yield [];
  } finally {
    await bytes.return?.();
  }
}

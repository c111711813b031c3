import { InputError } from '../domain/problems.ts';
import type { Delimiter } from './csv.ts';
import { createDecoder } from './decoder.ts';
import type { Encoding } from './encodings.ts';
import { inPieces, isGzip, unpack } from './file-bytes.ts';
import { readHeader } from './header.ts';
import { describeOtherFile } from './not-csv.ts';
import { beginsResultFile, isResultFile, unescapeRows, unescapeText } from './result-file.ts';
import { type Row, RowReader } from './rows.ts';
import { countLineEnds, TextLines } from './text-lines.ts';

export { type Delimiter, delimiters } from './csv.ts';
export { type Encoding, encodings } from './encodings.ts';
export type { Row } from './rows.ts';

/** The campaign's settings for its contact files; the rest is detected. */
export type ReadingOptions = {
  readonly encoding?: Encoding | undefined;
  readonly delimiter?: Delimiter | undefined;
  /** Physical lines. */
  readonly skipLines?: number;
};

export type ContactFile = {
  /** As errors show it. */
  readonly name: string;
  /** Trimmed column names. */
  readonly header: readonly string[];
  /** The detected format; `encoding` is final only at the end. */
  readonly format: () => {
    readonly encoding: Encoding;
    readonly delimiter: Delimiter;
    readonly skipLines: number;
    readonly gzip: boolean;
  };
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

/**
 * Opens a contact file, possibly compressed with gzip, and reads its header. Rows are streamed in constant memory.
 * In a result file that is read again, the escapes for spreadsheets are removed.
 *
 * @param name the file's name in errors
 * @param campaignOptions the campaign's settings; ignored for a result file, which Volley wrote
 * @throws InputError when the file or its header cannot be read, or a column name is empty or repeated
 */
export async function openContactFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  campaignOptions: ReadingOptions = {},
): Promise<ContactFile> {
  const stored = inPieces(bytes);
  const first = await stored.next();
  const gzip = first.done !== true && isGzip(first.value);
  const whole = prepend(first, stored);
  const unpacked = gzip ? inPieces(unpack(whole, name)) : whole;
  const close = async (): Promise<void> => {
    await unpacked.return();
    await stored.return();
  };
  const beginning = await unpacked.next();
  const options = beginning.done || !beginsResultFile(beginning.value) ? campaignOptions : {};
  const pieces = refuseOtherFormats(prepend(beginning, unpacked), name);

  const decoder = createDecoder(options.encoding);
  const lines = new TextLines();
  const more = async (): Promise<boolean> => {
    if (lines.ended) return false;
    const piece = await pieces.next();
    const { text, fault } = piece.done ? decoder.end() : decoder.decode(piece.value);
    lines.append(text);
    lines.ended = piece.done === true;
    if (fault === undefined) return true;
    const line = lines.line + countLineEnds(lines.text);
    throw new InputError([{ where: `${name}:${line}`, what: fault }]);
  };

  try {
    const { names, delimiter } = await readHeader(lines, more, name, options);
    const reader = new RowReader(lines, delimiter, names.length);
    const result = isResultFile(names);
    const header = result ? names.map(unescapeText) : names;
    const batches = readBatches(reader, more, name, delimiter, result ? unescapeRows : undefined);
    return {
      name,
      header,
      format: () => ({ encoding: decoder.encoding(), delimiter, skipLines: options.skipLines ?? 0, gzip }),
      batches: closeAtEnd(batches, close),
      lines: () => lines.line - 1,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function closeContactFile({ batches }: ContactFile): Promise<void> {
  await batches[Symbol.asyncIterator]().return?.();
}

async function* prepend(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** @throws InputError if the first bytes show another format */
async function* refuseOtherFormats(
  pieces: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  let begun = false;
  for await (const piece of pieces) {
    const other = begun ? undefined : describeOtherFile(piece);
    if (other !== undefined) throw new InputError([{ where: name, what: other }]);
    begun = true;
    yield piece;
  }
}

/** A generator that has not started does not run its `finally`, so `close` is called here too. */
function closeAtEnd<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  close: () => Promise<void>,
): AsyncIterable<Item> {
  const end = async (): Promise<IteratorResult<Item, void>> => {
    await items.return();
    await close();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        try {
          const item = await items.next();
          if (item.done) await close();
          return item;
        } catch (error) {
          await close();
          throw error;
        }
      },
      return: end,
    }),
  };
}

const maxShownBroken = 3;

async function* readBatches(
  reader: RowReader,
  more: () => Promise<boolean>,
  name: string,
  delimiter: Delimiter,
  change?: (rows: readonly Row[]) => readonly Row[],
): AsyncGenerator<readonly Row[], void, undefined> {
  let count = 0;
  let broken = 0;
  const shown: { where: string; what: string }[] = [];
  do {
    for (let rows = reader.readBatch(); rows.length > 0; rows = reader.readBatch()) {
      count += rows.length;
      for (const row of rows) {
        if (row.kind !== 'broken') continue;
        broken++;
        if (shown.length < maxShownBroken) {
          shown.push({ where: `${name}:${row.line}`, what: `${capitalised(row.detail)}.` });
        }
      }
      yield change ? change(rows) : rows;
    }
  } while (await more());
  if (broken * 2 <= count) return;
  const what = `${broken} of ${count} rows are broken, so the file was probably read in the wrong format. Check its delimiter ("contacts.delimiter"; it was read with ${JSON.stringify(delimiter)}), its encoding ("contacts.encoding"), the lines before its header ("contacts.skipLines") and its quotes. The first broken rows:`;
  throw new InputError([{ where: name, what }, ...shown]);
}

function capitalised(detail: string): string {
  return detail.charAt(0).toUpperCase() + detail.slice(1);
}

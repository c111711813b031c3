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

/** What a campaign says of how its contact file is written; what it does not say is found out. */
export type ReadingOptions = {
  readonly encoding?: Encoding | undefined;
  readonly delimiter?: Delimiter | undefined;
  /** Physical lines before the header. */
  readonly skipLines?: number;
};

export type ContactFile = {
  /** As errors show it. */
  readonly name: string;
  /** Column names, without the spaces around them. */
  readonly header: readonly string[];
  /** How the file was found to be written; `encoding` is known for certain only at the end. */
  readonly format: () => {
    readonly encoding: Encoding;
    readonly delimiter: Delimiter;
    readonly skipLines: number;
    readonly gzip: boolean;
  };
  /**
   * The rows after the header, in their order; blank lines are passed over. Can be read once. Whoever stops early closes
   * the file by it, before the first batch too.
   *
   * @throws InputError when the bytes are not of the file's encoding, or more than half of the rows are broken
   */
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Physical lines read so far, header and skipped ones included; all of them at the end. */
  readonly lines: () => number;
};

/**
 * Opens a contact file and reads its header; rows are streamed, so memory does not grow with the file. It may be packed
 * with gzip. In a result file that is read again, texts are as they were before it made them inert.
 *
 * @param name the file's name as errors show it
 * @param campaignOptions how the campaign says that its list is written; a result file is written as Volley does, whatever they say
 * @throws InputError when the file cannot be read, or its header is missing, cannot be read, or has an empty or repeated
 *   name
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

/** Closes a file whose rows nobody is going to read, or to read on. */
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

/** @throws InputError where the first bytes tell that this is no CSV file */
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

/** A generator that has not begun does not clean up after itself. */
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

/** Broken rows that are shown of a file that has too many of them. */
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
  const what = `${broken} of ${count} rows are broken, so the file was not read as it was meant. Look at its delimiter ("contacts.delimiter"; it was read with ${JSON.stringify(delimiter)}), its encoding ("contacts.encoding"), the lines before its header ("contacts.skipLines") and its quotes. The first broken rows:`;
  throw new InputError([{ where: name, what }, ...shown]);
}

function capitalised(detail: string): string {
  return detail.charAt(0).toUpperCase() + detail.slice(1);
}

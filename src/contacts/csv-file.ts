import { InputError } from '../domain/problems.ts';
import { refuseMostlyBroken } from './broken-rows.ts';
import { closeAtEnd } from './close-at-end.ts';
import type { Delimiter } from './csv.ts';
import { createDecoder } from './decoder.ts';
import { inPieces, isGzip, prepend, unpack } from './file-bytes.ts';
import { readHeader } from './header.ts';
import { describeOtherFile } from './not-csv.ts';
import type { ContactFile, ReadingOptions } from './opened-file.ts';
import { beginsResultFile, isResultFile, unescapeRows, unescapeText } from './result-file.ts';
import { type Row, RowReader } from './rows.ts';
import { countLineEnds, TextLines } from './text-lines.ts';

/**
 * Opens a CSV file, possibly compressed with gzip, and reads its header.
 *
 * @throws InputError as `openContactFile`
 */
export async function openCsvFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  campaignOptions: ReadingOptions,
): Promise<ContactFile> {
  const stored = inPieces(bytes);
  const first = await stored.next();
  const gzip = first.done !== true && isGzip(first.value);
  const whole = prepend(first, stored);
  const unpacked = gzip ? inPieces(unpack(whole, name, campaignOptions.maxUnpacked)) : whole;
  const close = async (): Promise<void> => {
    await unpacked.return();
    await stored.return();
  };
  const beginning = await unpacked.next();
  const isOwnList = beginning.done || !beginsResultFile(beginning.value);
  const options = isOwnList ? campaignOptions : {};
  const pieces = refuseOtherFormats(prepend(beginning, unpacked), name);

  const place: ContactFile['place'] = (line, column) =>
    `${name}:${line}${column === undefined ? '' : `:${column + 1}`}`;
  const decoder = createDecoder(options.encoding, campaignOptions.encoding);
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
    const batches = readBatches(reader, more, result ? unescapeRows : undefined);
    const { skipLines = 0 } = options;
    return {
      name,
      header,
      format: () => ({
        kind: 'csv',
        encoding: decoder.encoding(),
        delimiter,
        byteOrderMark: decoder.byteOrderMark(),
        skipLines,
        gzip,
      }),
      place,
      batches: closeAtEnd(refuseMostlyBroken(batches, name, place, csvAdvice(delimiter)), close),
      lines: () => lines.line - 1,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws InputError if the first bytes show another format */
async function* refuseOtherFormats(
  pieces: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  let begun = false;
  for await (const piece of pieces) {
    const other = begun ? undefined : describeOtherFile(piece, name);
    if (other !== undefined) throw new InputError([{ where: name, what: other }]);
    begun = true;
    yield piece;
  }
}

function csvAdvice(delimiter: Delimiter): string {
  return `Check its delimiter ("contacts.delimiter"; it was read with ${JSON.stringify(delimiter)}), its encoding ("contacts.encoding"), the lines before its header ("contacts.skipLines") and its quotes.`;
}

async function* readBatches(
  reader: RowReader,
  more: () => Promise<boolean>,
  change?: (rows: readonly Row[]) => readonly Row[],
): AsyncGenerator<readonly Row[], void, undefined> {
  do {
    for (let rows = reader.readBatch(); rows.length > 0; rows = reader.readBatch())
      yield change ? change(rows) : rows;
  } while (await more());
}

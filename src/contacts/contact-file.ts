import type { ContactSample } from '../campaign/first-campaign.ts';
import { InputError } from '../domain/problems.ts';
import type { Delimiter } from './csv.ts';
import { createDecoder } from './decoder.ts';
import { inPieces, isGzip, prepend, unpack } from './file-bytes.ts';
import { readHeader } from './header.ts';
import { describeOtherFile, isZip } from './not-csv.ts';
import {
  beginsResultFile,
  type ContactFile,
  type KeepBytes,
  type ReadingOptions,
  toContactFile,
} from './opened-file.ts';
import { type Row, RowReader } from './rows.ts';
import { countLineEnds, TextLines } from './text-lines.ts';

export { type Encoding, encodings } from '../platform/encodings.ts';
export { type Delimiter, delimiters } from './csv.ts';
export type { ContactFile, FileFormat, ReadingOptions } from './opened-file.ts';
export type { Row } from './rows.ts';

/**
 * Opens a contact file: CSV, possibly compressed with gzip, or a workbook. Reads its header. Rows are streamed in
 * constant memory.
 *
 * @param name the file's name in errors
 * @param campaignOptions the campaign's settings; ignored for a result file, which Volley wrote
 * @param keep sees the bytes of the file as it is read
 * @throws InputError when the file or its header cannot be read, or a column name is empty or repeated
 */
export async function openContactFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  campaignOptions: ReadingOptions = {},
  keep?: KeepBytes,
): Promise<ContactFile> {
  const given = inPieces(bytes);
  const first = await given.next();
  const whole = prepend(first, given);
  if (!first.done && isZip(first.value)) {
    const { openWorkbook } = await import('./workbook/open-workbook.ts');
    return openWorkbook(whole, name, campaignOptions, keep);
  }
  const gzip = !first.done && isGzip(first.value);
  const stored = keep ? inPieces(keep(whole)) : whole;
  const unpacked = gzip ? inPieces(unpack(stored, name, campaignOptions.maxUnpacked)) : stored;
  const close = async (): Promise<void> => {
    await unpacked.return();
    await stored.return();
  };
  try {
    return await openCsv(unpacked, name, campaignOptions, { gzip, close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function openCsv(
  bytes: AsyncGenerator<Buffer, void, undefined>,
  name: string,
  campaignOptions: ReadingOptions,
  { gzip, close }: { readonly gzip: boolean } & Pick<ContactFile, 'close'>,
): Promise<ContactFile> {
  const beginning = await bytes.next();
  const other = beginning.done ? undefined : describeOtherFile(beginning.value, name);
  if (other !== undefined) throw new InputError([{ where: name, what: other }]);
  const isOwnList = beginning.done || !beginsResultFile(beginning.value);
  const options = isOwnList ? campaignOptions : {};
  const pieces = prepend(beginning, bytes);
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
  const { names, delimiter } = await readHeader(lines, more, name, options);
  return toContactFile({
    name,
    names,
    format: () => ({
      kind: 'csv',
      encoding: decoder.encoding(),
      delimiter,
      byteOrderMark: decoder.byteOrderMark(),
      skipLines: options.skipLines ?? 0,
      gzip,
    }),
    place: (line, column) => `${name}:${line}${column === undefined ? '' : `:${column + 1}`}`,
    rows: readBatches(new RowReader(lines, delimiter, names.length), more),
    advice: csvAdvice(delimiter),
    lines: () => lines.line - 1,
    close,
  });
}

function csvAdvice(delimiter: Delimiter): string {
  return `Check its delimiter ("contacts.delimiter"; it was read with ${JSON.stringify(delimiter)}), its encoding ("contacts.encoding"), the lines before its header ("contacts.skipLines") and its quotes.`;
}

async function* readBatches(
  reader: RowReader,
  more: () => Promise<boolean>,
): AsyncGenerator<readonly Row[], void, undefined> {
  do {
    for (let rows = reader.readBatch(); rows.length > 0; rows = reader.readBatch()) yield rows;
  } while (await more());
}

export async function readSample(file: ContactFile, maxRows: number): Promise<ContactSample> {
  const { header, batches } = file;
  try {
    for await (const batch of batches) {
      const rows = batch.flatMap((row) => (row.kind === 'row' ? [row.values] : [])).slice(0, maxRows);
      return { header, rows };
    }
    return { header, rows: [] };
  } finally {
    await file.close();
  }
}

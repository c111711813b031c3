import type { ContactSample } from '../campaign/first-campaign.ts';
import { openCsvFile } from './csv-file.ts';
import { inPieces, prepend } from './file-bytes.ts';
import { isZip } from './not-csv.ts';
import type { ContactFile, KeepBytes, ReadingOptions } from './opened-file.ts';

export { type Encoding, encodings } from '../platform/encodings.ts';
export { type Delimiter, delimiters } from './csv.ts';
export type { ContactFile, FileFormat, ReadingOptions } from './opened-file.ts';
export type { Row } from './rows.ts';

/**
 * Opens a contact file: CSV, possibly compressed with gzip, or a workbook. Reads its header. Rows are streamed in
 * constant memory. In a result file that is read again, the escapes for spreadsheets are removed.
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
  const stored = inPieces(bytes);
  const first = await stored.next();
  const whole = prepend(first, stored);
  if (!first.done && isZip(first.value)) {
    const { openWorkbook } = await import('./workbook/open-workbook.ts');
    return openWorkbook(whole, name, campaignOptions, keep);
  }
  return openCsvFile(keep ? keep(whole) : whole, name, campaignOptions);
}

/** Reads the header and the first rows, and closes the file. */
export async function readSample(file: ContactFile, maxRows: number): Promise<ContactSample> {
  const { header, batches } = file;
  try {
    for await (const batch of batches) {
      const rows = batch.flatMap((row) => (row.kind === 'row' ? [row.values] : [])).slice(0, maxRows);
      return { header, rows };
    }
    return { header, rows: [] };
  } finally {
    await closeContactFile(file);
  }
}

export async function closeContactFile({ batches }: ContactFile): Promise<void> {
  await batches[Symbol.asyncIterator]().return?.();
}

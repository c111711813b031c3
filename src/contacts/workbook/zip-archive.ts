import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { InputError } from '../../domain/problems.ts';
import type { SpooledFile } from '../../platform/spooled-file.ts';
import { expandsTooMuch, maxExpansion, tooLargeUnpacked } from '../file-bytes.ts';
import { passwordProtected } from '../not-csv.ts';

/** Reads the parts of a ZIP archive, each checked for its size and checksum. */
export type ZipArchive = {
  /** As written. */
  readonly names: readonly string[];
  /** The bytes of a part when it is unpacked; undefined: there is none. Upper and lower case are the same. */
  readonly sizeOf: (part: string) => number | undefined;
  /** @throws InputError when the part is missing, damaged, encrypted or expands far more than a sheet does */
  readonly read: (part: string) => AsyncGenerator<Buffer, void, undefined>;
};

/** More than any workbook has. */
const maxParts = 10_000;

/**
 * @param name of the file, in errors
 * @param limit of the unpacked bytes of all parts
 * @throws InputError when the archive is truncated, damaged or larger than the limit
 */
export async function openZip(
  file: SpooledFile,
  name: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<ZipArchive> {
  const zip = await fromFdPromise(file.descriptor, { autoClose: false }).catch((error: unknown) => {
    throw damaged(error, name);
  });
  const parts = await listParts(zip, name);
  // A part that is larger than it says is damaged.
  const unpacked = [...parts.values()].reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (unpacked > limit) throw tooLargeUnpacked(name, limit);
  const find = (part: string): Entry | undefined => parts.get(part.toLowerCase());
  return {
    names: [...parts.values()].map(({ fileName }) => fileName),
    sizeOf: (part) => find(part)?.uncompressedSize,
    read: (part) => readPart(zip, find(part), part, name),
  };
}

async function listParts(zip: ZipFile, name: string): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > maxParts) {
    const what = `The workbook has ${zip.entryCount.toLocaleString('en')} parts, as no workbook does. Open it in the spreadsheet program and save it again.`;
    throw new InputError([{ where: name, what }]);
  }
  const parts = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      const key = entry.fileName.toLowerCase();
      if (parts.has(key)) throw new Error(`two parts are named ${entry.fileName}`);
      parts.set(key, entry);
    }
  } catch (error) {
    throw damaged(error, name);
  }
  return parts;
}

async function* readPart(
  zip: ZipFile,
  entry: Entry | undefined,
  part: string,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  if (!entry) throw damaged(new Error(`its part ${part} is missing`), name);
  if (entry.isEncrypted()) throw new InputError([{ where: name, what: passwordProtected }]);
  if (expandsTooMuch(entry.uncompressedSize, entry.compressedSize)) {
    const what = `The workbook expands more than ${maxExpansion} times, as few lists do. If yours does, save the sheet as "CSV UTF-8".`;
    throw new InputError([{ where: name, what }]);
  }
  try {
    const stream: AsyncIterable<Buffer> = await zip.openReadStreamPromise(entry);
    let checksum = 0;
    for await (const bytes of stream) {
      checksum = crc32(bytes, checksum);
      yield bytes;
    }
    if (checksum !== entry.crc32) throw new Error(`the checksum of its part ${part} is wrong`);
  } catch (error) {
    throw damaged(error, name);
  }
}

/** Errors of the archive; others pass. */
function damaged(error: unknown, name: string): unknown {
  if (!(error instanceof Error) || error instanceof InputError) return error;
  const isCut = /end of central directory|end of file|unexpected EOF/i.test(error.message);
  const what = isCut
    ? 'The workbook ends too early. Check that it was copied completely.'
    : `The workbook is damaged: ${error.message}. Copy it again, or open it in the spreadsheet program and save it again.`;
  return new InputError([{ where: name, what }], { cause: error });
}

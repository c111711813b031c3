import { createHash, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { z } from 'zod';
import type { Campaign } from '../../campaign/campaign.ts';
import { type ContactFile, delimiters, encodings, openContactFile } from '../../contacts/contact-file.ts';
import { isGzip } from '../../contacts/file-bytes.ts';
import { withColumnNames } from '../../contacts/named-columns.ts';
import { isZip } from '../../contacts/not-csv.ts';
import type { KeepBytes } from '../../contacts/opened-file.ts';
import { InputError } from '../../domain/problems.ts';
import type { ContactFilePiece } from '../../ledger/planning/stage-contacts.ts';
import {
  type KeptContactFile,
  type PieceContent,
  readContactFilePieces,
} from '../../ledger/runs/contact-files.ts';
import type { Snapshot } from '../../ledger/session.ts';
import { readWords } from '../../platform/word-filter.ts';

/**
 * Keeps contact files with their run, so that reports can show every row later. Each piece is compressed separately.
 */
export type KeptContactFiles = {
  readonly keep: (file: number, bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
  /** The pieces completed since the last call. At the end of a file, its last piece is complete. */
  readonly takeCompletePieces: () => Promise<readonly ContactFilePiece[]>;
  /** The bytes of all files so far. */
  readonly bytesRead: () => number;
  /** The SHA-256 of a file that has been read to its end. */
  readonly digestOf: (file: number) => Buffer;
};

const pieceSize = 1024 * 1024;

const compress = promisify(zstdCompress);
export const decompress = promisify(zstdDecompress);
/** The fastest level: kept files are rarely read. */
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** @param keepsFiles false: only their digests */
export function createKeptContactFiles(keepsFiles: boolean): KeptContactFiles {
  const hashes = new Map<number, Hash>();
  let ready: Promise<ContactFilePiece>[] = [];
  let bytesRead = 0;

  async function* digest(
    file: number,
    bytes: AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer, void, undefined> {
    const hash = createHash('sha256');
    hashes.set(file, hash);
    for await (const chunk of bytes) {
      hash.update(chunk);
      bytesRead += chunk.length;
      yield chunk;
    }
  }

  async function* keep(file: number, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    const cutter = createPieceCutter();
    let piece = 0;
    const finishPiece = (content: Promise<PieceContent> | undefined): void => {
      if (!content) return;
      const number = { file, piece: piece++ };
      ready.push(content.then((each) => ({ ...number, ...each })));
    };
    for await (const chunk of digest(file, bytes)) {
      finishPiece(cutter.add(chunk));
      yield chunk;
    }
    finishPiece(cutter.end());
  }

  return {
    keep: keepsFiles ? keep : digest,
    takeCompletePieces: () => {
      if (!keepsFiles) throw new Error('the campaign was prepared without keeping its contact files');
      const complete = ready;
      ready = [];
      return Promise.all(complete);
    },
    bytesRead: () => bytesRead,
    digestOf: (file) => {
      const hash = hashes.get(file);
      if (!hash) throw new Error(`contact file ${file} was not read`);
      return hash.copy().digest();
    },
  };
}

/** Cuts bytes into the pieces of a kept contact file. A piece of text ends at a line end, so that it can be read alone. */
function createPieceCutter() {
  let pending: Buffer[] = [];
  let size = 0;
  /** Null: the pieces cannot be read alone. */
  let linesBefore: number | null | undefined;
  const cut = (isLast: boolean): Promise<PieceContent> => {
    const all = Buffer.concat(pending);
    const end = isLast ? all.length : all.lastIndexOf('\n') + 1 || all.length;
    const bytes = all.subarray(0, end);
    pending = [all.subarray(end)];
    size = all.length - end;
    if (linesBefore === undefined) linesBefore = isPlainText(bytes) ? 0 : null;
    if (linesBefore === null) return compressPiece(bytes, null, null);
    const { words, lineEnds } = readWords(bytes);
    linesBefore += lineEnds;
    return compressPiece(bytes, linesBefore - lineEnds, words);
  };
  return {
    add: (chunk: Buffer): Promise<PieceContent> | undefined => {
      pending.push(chunk);
      size += chunk.length;
      // The first piece, which has the header, is read with any other one.
      return size < pieceSize && linesBefore !== undefined ? undefined : cut(false);
    },
    end: (): Promise<PieceContent> | undefined => (size > 0 ? cut(true) : undefined),
  };
}

/** Whether it has lines of bytes: it is not packed, and not UTF-16, whose line ends have a NUL. */
function isPlainText(begin: Buffer): boolean {
  return !isGzip(begin) && !isZip(begin) && begin.includes('\n') && !begin.includes(0);
}

/** Bytes as the pieces of a kept contact file. */
export async function* compressPieces(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<PieceContent, void, undefined> {
  const cutter = createPieceCutter();
  for await (const chunk of bytes) {
    const piece = cutter.add(chunk);
    if (piece) yield await piece;
  }
  const last = cutter.end();
  if (last) yield await last;
}

async function compressPiece(
  bytes: Buffer,
  linesBefore: number | null,
  words: Buffer | null,
): Promise<PieceContent> {
  return { data: await compress(bytes, compression), linesBefore, words };
}

export async function* decompressPieces(
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of pieces) yield await decompress(piece);
}

const readingOptions = z.union([
  z.object({ sheet: z.string() }),
  z.object({ encoding: z.enum(encodings), delimiter: z.enum(delimiters) }),
]);

/** The campaign and the contact files of an earlier run, instead of what stands on the disk now. */
export type KeptCampaign = {
  /** The campaign as it was written. */
  readonly source: string;
  readonly files: readonly KeptContactFile[];
  readonly openFile: (file: KeptContactFile, keep: KeepBytes) => Promise<ContactFile>;
};

/** @throws InputError when the content of a file is erased, so its contacts are not known */
export function withKeptFiles({ value, locate }: Campaign, { files }: KeptCampaign): Campaign {
  const [erased] = files.filter(({ dropped }) => dropped);
  if (erased || files.length === 0) {
    const what = 'Its content is erased, so its contacts are not known any more.';
    throw new InputError([{ where: erased?.name ?? 'contacts', what }]);
  }
  const contacts = { ...value.contacts, file: files.map(({ name }) => name) };
  return { value: { ...value, contacts }, locate };
}

/** How a kept contact file is read. */
export type KeptFile = Omit<KeptContactFile, 'dropped' | 'sha256'>;

/** Opens bytes of a kept contact file, as it was read for its run. */
export async function openKeptBytes(
  bytes: AsyncIterable<Buffer>,
  file: KeptFile,
  keep?: KeepBytes,
): Promise<ContactFile> {
  const options = { ...readingOptions.parse(file), skipLines: file.skipLines };
  const opened = await openContactFile(bytes, file.name, options, keep);
  return file.columns ? withColumnNames(opened, file.columns) : opened;
}

/** Opens a contact file that is kept with its run. */
export function openKeptContactFile(
  client: Snapshot,
  file: KeptFile,
  keep?: KeepBytes,
): Promise<ContactFile> {
  return openKeptBytes(decompressPieces(readContactFilePieces(client, file)), file, keep);
}

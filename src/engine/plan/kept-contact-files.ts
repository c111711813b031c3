import { createHash, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { type ContactFile, delimiters, encodings, openContactFile } from '../../contacts/contact-file.ts';
import type { ContactFilePiece } from '../../ledger/planning/stage-contacts.ts';
import { type KeptContactFile, readContactFilePieces } from '../../ledger/runs/contact-files.ts';
import type { Snapshot } from '../../ledger/session.ts';

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
const decompress = promisify(zstdDecompress);
/** The fastest level: kept files are rarely read. */
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** What is kept of contact files: themselves and their digests for a run, digests for a plan file. */
export type KeptParts = 'files' | 'digests' | 'nothing';

export function createKeptContactFiles(parts: KeptParts): KeptContactFiles {
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
    let pending: Buffer[] = [];
    let size = 0;
    let piece = 0;
    const finishPiece = (): void => {
      ready.push(compressPiece(file, piece++, Buffer.concat(pending)));
      pending = [];
      size = 0;
    };
    for await (const chunk of digest(file, bytes)) {
      pending.push(chunk);
      size += chunk.length;
      if (size >= pieceSize) finishPiece();
      yield chunk;
    }
    if (size > 0) finishPiece();
  }

  return {
    keep: { files: keep, digests: digest, nothing: passOn }[parts],
    takeCompletePieces: () => {
      if (parts !== 'files') throw new Error('the campaign was prepared without keeping its contact files');
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

function passOn(_: number, bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return bytes;
}

/** Bytes as the pieces of a kept contact file. */
export async function* compressPieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    pending.push(chunk);
    size += chunk.length;
    if (size < pieceSize) continue;
    yield await compress(Buffer.concat(pending), compression);
    pending = [];
    size = 0;
  }
  if (size > 0) yield await compress(Buffer.concat(pending), compression);
}

async function compressPiece(file: number, piece: number, bytes: Buffer): Promise<ContactFilePiece> {
  return { file, piece, data: await compress(bytes, compression) };
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

/** Opens a contact file that is kept with its run, as it was read for the run. */
export function openKeptContactFile(
  client: Snapshot,
  file: Omit<KeptContactFile, 'dropped'>,
): Promise<ContactFile> {
  const options = { ...readingOptions.parse(file), skipLines: file.skipLines };
  return openContactFile(decompressPieces(readContactFilePieces(client, file)), file.name, options);
}

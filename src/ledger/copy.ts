import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const special = /[\\\n\r\t\0]/;
const everySpecial = new RegExp(special, 'g');
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '',
};

/** Writes a value in COPY's text format, without NUL, which Postgres cannot store. */
export function copyValue(value: string): string {
  return special.test(value) ? value.replace(everySpecial, (found) => escapes[found] ?? '') : value;
}

export function copyOptional(value: string | undefined): string {
  return value === undefined ? '\\N' : copyValue(value);
}

/** Characters in one write to Postgres; a write for each row costs more than the row. */
export const copyPieceSize = 16_384;

/** Collects lines as bytes: strings that live this long burden the garbage collector. */
export class CopyLines {
  bytes = 0;
  #piece = '';
  #whole: Buffer[] = [];

  add(line: string): void {
    this.#piece += line;
    if (this.#piece.length >= copyPieceSize) this.#finishPiece();
  }

  takeBuffers(): readonly Buffer[] {
    this.#finishPiece();
    const buffers = this.#whole;
    this.#whole = [];
    this.bytes = 0;
    return buffers;
  }

  #finishPiece(): void {
    const piece = Buffer.from(this.#piece);
    this.#piece = '';
    this.#whole.push(piece);
    this.bytes += piece.length;
  }
}

/**
 * Copies lines in COPY's text format. Few are buffered: they cost memory, and Postgres is faster than the reader.
 *
 * @param table with its columns
 */
export async function copyIn(
  client: pg.ClientBase,
  table: string,
  lines: Iterable<Buffer> | AsyncIterable<string>,
): Promise<void> {
  await pipeline(
    Readable.from(lines, { highWaterMark: 2 }),
    client.query(copyFrom(`COPY ${table} FROM STDIN`)),
  );
}

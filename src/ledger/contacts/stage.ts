import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Contact } from '../../domain.ts';

/**
 * Copies contacts into a staging table that only this session sees and that Postgres drops with it, so that a crash
 * before `expandRun` commits leaves nothing behind. Memory does not grow with the number of rows.
 */
export async function stageContacts(client: pg.PoolClient, contacts: AsyncIterable<Contact>): Promise<void> {
  await client.query(`
    DROP TABLE IF EXISTS staged_contacts;
    CREATE TEMPORARY TABLE staged_contacts (
      line             integer NOT NULL,
      address          text,
      original_address text,
      envelope         text,
      destination      text,
      column_name      text,
      reason           text,
      detail           text
    );
  `);
  await pipeline(
    Readable.from(copyLines(contacts)),
    client.query(copyFrom('COPY staged_contacts FROM STDIN')),
  );
  await client.query('ANALYZE staged_contacts');
}

/** Rows are sent to Postgres in pieces of about this many characters; one write a row costs more than the row. */
const pieceSize = 65_536;

async function* copyLines(contacts: AsyncIterable<Contact>): AsyncGenerator<string> {
  let piece = '';
  for await (const contact of contacts) {
    piece += copyLine(
      contact.kind === 'contact'
        ? [
            String(contact.line),
            contact.address,
            contact.originalAddress,
            JSON.stringify(contact.envelope),
            JSON.stringify(contact.destination),
            null,
            null,
            null,
          ]
        : [String(contact.line), null, null, null, null, contact.column, contact.reason, contact.detail],
    );
    if (piece.length >= pieceSize) {
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line of COPY's text format. NUL cannot be stored in Postgres and is dropped. */
function copyLine(values: readonly (string | null)[]): string {
  const cells = values.map((value) =>
    value === null
      ? '\\N'
      : value.replaceAll('\0', '').replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? ''),
  );
  return `${cells.join('\t')}\n`;
}

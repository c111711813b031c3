import type pg from 'pg';
import { inTransaction, type Transaction } from '../session.ts';

/** Tables with a row for each block, envelope or contact of a run, whose rows move. Those of others are few, or large. */
const movedTables = [
  ...['contents', 'folded_outcomes', 'folded_reports', 'envelopes', 'rejected_contacts', 'recipient_keys'],
  ...['requests', 'attempts'],
];

/** Less is not worth the writing: share of a table without rows, and bytes. */
const least = { share: 0.25, bytes: 1024 * 1024 };

/** Share of a table that is moved at once. VACUUM cuts off no less than a sixteenth. */
const step = 0.1;

/**
 * Gives the space of erased and deleted rows back to the disk while others work. VACUUM can only cut off the end of a table,
 * so rows at the end move to free space before it. Does nothing in tables of another owner.
 */
export async function giveBackSpace(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(`
    SELECT relname AS name
    FROM pg_class
    WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'runs'::regclass)
      AND pg_has_role(relowner, 'USAGE')
  `);
  for (const { name } of rows) {
    await pool.query(`VACUUM (SKIP_LOCKED) ${name}`);
    if (movedTables.includes(name)) await moveRows(pool, name);
  }
}

async function moveRows(pool: pg.Pool, table: string): Promise<void> {
  let fruitless = 0;
  for (let space = await readSpace(pool, table); isWorthMoving(space) && fruitless < maxFruitless; ) {
    const end = Math.floor(space.pages * (1 - step));
    await inTransaction(pool, (client) => emptyPages(client, table, end));
    await pool.query(`VACUUM ${table}`);
    const after = await readSpace(pool, table);
    fruitless = after.pages < space.pages ? 0 : fruitless + 1;
    space = after;
  }
}

/** An open snapshot, or another session that uses the table, keeps its end. The next purge tries again. */
const maxFruitless = 3;

/** Moves the rows of all pages from this one on. A page with free space gets them again until it is full. */
async function emptyPages(client: Transaction, table: string, first: number): Promise<void> {
  const move = `UPDATE ${table} SET run_id = run_id WHERE ctid >= CAST($1 AS tid)`;
  for (let tries = 0; tries < 5; tries++) {
    const { rowCount } = await client.query(move, [`(${first},0)`]);
    if (rowCount === 0) return;
  }
}

/** `used`: estimated bytes of rows. */
type Space = { readonly pages: number; readonly bytes: number; readonly used: number };

const isWorthMoving = ({ bytes, used }: Space): boolean =>
  bytes - used >= least.bytes && used < bytes * (1 - least.share);

/** Estimates the space of rows from their number, as VACUUM counted it, and the size of some. */
async function readSpace(pool: pg.Pool, table: string): Promise<Space> {
  const { rows } = await pool.query<Space>(
    `
    SELECT CAST(bytes / current_setting('block_size')::integer AS float8) AS pages, CAST(bytes AS float8) AS bytes,
           CAST(greatest(reltuples, 0) * coalesce(
             (SELECT avg(pg_column_size(t) + 4) FROM ${table} t TABLESAMPLE system (0.5)), 100) AS float8) AS used
    FROM (SELECT reltuples, pg_relation_size(oid) AS bytes FROM pg_class WHERE oid = $1::regclass) c
    `,
    [table],
  );
  return rows[0] ?? { pages: 0, bytes: 0, used: 0 };
}

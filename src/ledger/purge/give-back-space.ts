import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf } from '../../platform/file-error.ts';
import { inSession, inTransactionOf, type Session } from '../session.ts';

/**
 * Tables with a row for each block, envelope or contact of a run, whose rows move. Those of others are few, large, or
 * locked by workers that send (`requests`, `attempts`).
 */
const movedTables = [
  'contents',
  'folded_outcomes',
  'folded_reports',
  'envelopes',
  'rejected_contacts',
  'recipient_keys',
];

/** Less is not worth the writing: share of a table without rows, and bytes. */
const least = { share: 0.25, bytes: 256 * 1024 };

/** Share of a table that is moved at once. VACUUM cuts off no less than a sixteenth. */
const step = 0.1;

/**
 * Gives the space of erased and deleted rows back to the disk while others work. VACUUM can only cut off the end of a table,
 * so rows at the end move to free space before it. Leaves a table where another session has locked a row, and does nothing in tables of another owner.
 */
export async function giveBackSpace(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<Table>(`
    SELECT relname AS name, format('%I.%I', nspname, relname) AS quoted
    FROM pg_class
    JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'runs'::regclass)
      AND pg_has_role(relowner, 'USAGE')
  `);
  for (const table of rows) {
    try {
      await inSession(pool, (session) => giveBackSpaceOf(session, table));
    } catch (error) {
      if (!leavesTable.includes(codeOf(error))) throw error;
    }
  }
}

/** `quoted`: for SQL. */
type Table = { readonly name: string; readonly quoted: string };

/** Codes of Postgres: the table was dropped meanwhile, or another session has locked its rows. The next purge tries again. */
const leavesTable: readonly (string | undefined)[] = ['42P01', '55P03', '40P01'];

async function giveBackSpaceOf(session: Session, { name, quoted }: Table): Promise<void> {
  // Autovacuum lets go of a table after a second in which another session waits for it.
  await session.query("SET lock_timeout = '3s'; SET idle_in_transaction_session_timeout = '10s'");
  await session.query(vacuum(quoted));
  let space = await readSpace(session, quoted);
  for (let fruitless = 0; movedTables.includes(name) && isWorthMoving(space) && fruitless < maxFruitless; ) {
    await emptyPages(session, quoted, Math.floor(space.pages * (1 - step)), space.pages);
    await session.query(vacuum(quoted));
    const after = await readSpace(session, quoted);
    // A snapshot keeps the free space, so rows moved to new pages.
    if (after.pages > space.pages) break;
    fruitless = after.pages < space.pages ? 0 : fruitless + 1;
    if (fruitless > 0) await sleep(pause);
    space = after;
  }
  await rebuildIndexes(session, quoted, space);
  await session.query('RESET lock_timeout; RESET idle_in_transaction_session_timeout');
}

/** By itself, VACUUM leaves the places of few dead rows, and cuts off no page with one. */
const vacuum = (table: string): string => `VACUUM (INDEX_CLEANUP ON) ${table}`;

/** A session that waits for the table keeps its end, and so does a snapshot. The next purge tries again. */
const maxFruitless = 4;

/** Milliseconds: most statements of workers are shorter. */
const pause = 500;

/** Others wait for a moved row until its transaction ends. */
const pagesPerTransaction = 500;

/** Moves the rows of these pages, `end` excluded. Some move to later ones of them: these are emptied afterwards. */
async function emptyPages(session: Session, table: string, first: number, end: number): Promise<void> {
  const move = `UPDATE ${table} SET run_id = run_id WHERE ctid >= CAST($1 AS tid) AND ctid < CAST($2 AS tid)`;
  for (let from = first; from < end; from += pagesPerTransaction) {
    const pages = [`(${from},0)`, `(${Math.min(end, from + pagesPerTransaction)},0)`];
    await inTransactionOf(session, async (client) => {
      await client.query("SET LOCAL lock_timeout = '200ms'");
      // An updated row stays in its page until the former versions, which go only after the transaction, have filled it.
      for (let moved = 1; moved > 0; ) moved = (await client.query(move, pages)).rowCount ?? 0;
    });
  }
}

/** With an index of more rows, others would wait for too long. */
const mostIndexedRows = 100_000;

/** Bytes: more than an index needs for a row, and an index with few. */
const bytesPerEntry = 200;
const bytesOfIndex = 64 * 1024;

/** VACUUM never makes an index smaller, also where nearly all rows of its table have gone, as those of folded outcomes. */
async function rebuildIndexes(session: Session, table: string, { tuples }: Space): Promise<void> {
  if (tuples > mostIndexedRows) return;
  const { rows } = await session.query<{ index: string }>(
    `
    SELECT CAST(indexrelid::regclass AS text) AS index
    FROM pg_index
    WHERE indrelid = $1::regclass AND pg_relation_size(indexrelid) > $2
    `,
    [table, Math.max(bytesOfIndex, Math.round(tuples * bytesPerEntry))],
  );
  for (const { index } of rows)
    await inTransactionOf(session, async (client) => {
      await client.query(`SET LOCAL lock_timeout = '200ms'; REINDEX INDEX ${index}`);
    });
}

/** Estimated: the number of its rows, and their bytes. */
type Space = {
  readonly pages: number;
  readonly bytes: number;
  readonly tuples: number;
  readonly used: number;
};

const isWorthMoving = ({ bytes, used }: Space): boolean =>
  bytes - used >= least.bytes && used < bytes * (1 - least.share);

/** Pages: fewer would not tell, more would take long. */
const sampledPages = 500;

/** Bytes: what a row has beyond them is beside its table, as TOAST. */
const mostInRow = 2_048;

/** Estimates from some pages: VACUUM does not count rows in pages that it skips. */
async function readSpace(session: Session, table: string): Promise<Space> {
  const { rows: sizes } = await session.query<Pick<Space, 'pages' | 'bytes'>>(
    `
    SELECT CAST(bytes / current_setting('block_size')::integer AS float8) AS pages, CAST(bytes AS float8) AS bytes
    FROM (SELECT pg_relation_size($1::regclass) AS bytes) AS size
    `,
    [table],
  );
  const { pages, bytes } = sizes[0] ?? { pages: 0, bytes: 0 };
  const share = Math.min(1, sampledPages / Math.max(1, pages));
  const { rows } = await session.query<{ tuples: number; used: number }>(
    `
    SELECT CAST(count(*) AS float8) AS tuples, CAST(coalesce(sum(least(pg_column_size(t) + 4, $2)), 0) AS float8) AS used
    FROM ${table} t TABLESAMPLE system ($1)
    `,
    [100 * share, mostInRow],
  );
  const { tuples, used } = rows[0] ?? { tuples: 0, used: 0 };
  return { pages, bytes, tuples: tuples / share, used: used / share };
}

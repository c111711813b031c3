import type pg from 'pg';
import { codeOf } from '../../platform/file-error.ts';
import { inTransaction } from '../session.ts';

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
const least = { share: 0.25, bytes: 1024 * 1024 };

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
      await giveBackSpaceOf(pool, table);
    } catch (error) {
      if (!leavesTable.includes(codeOf(error))) throw error;
    }
  }
}

/** `quoted`: for SQL. */
type Table = { readonly name: string; readonly quoted: string };

/** Codes of Postgres: the table was dropped meanwhile, or another session has locked its rows. The next purge tries again. */
const leavesTable: readonly (string | undefined)[] = ['42P01', '55P03', '40P01'];

async function giveBackSpaceOf(pool: pg.Pool, { name, quoted }: Table): Promise<void> {
  await pool.query(`VACUUM (SKIP_LOCKED) ${quoted}`);
  let space = await readSpace(pool, quoted);
  for (let fruitless = 0; movedTables.includes(name) && isWorthMoving(space) && fruitless < maxFruitless; ) {
    await emptyPages(pool, quoted, Math.floor(space.pages * (1 - step)), space.pages);
    await pool.query(`VACUUM ${quoted}`);
    const after = await readSpace(pool, quoted);
    fruitless = after.pages < space.pages ? 0 : fruitless + 1;
    space = after;
  }
  await rebuildIndexes(pool, quoted, space);
}

/** An open snapshot, or another session that uses the table, keeps its end. The next purge tries again. */
const maxFruitless = 3;

/** Others wait for a moved row until its transaction ends. */
const pagesPerTransaction = 500;

/** Moves the rows of these pages, `end` excluded. Some move to later ones of them: these are emptied afterwards. */
async function emptyPages(pool: pg.Pool, table: string, first: number, end: number): Promise<void> {
  const move = `UPDATE ${table} SET run_id = run_id WHERE ctid >= CAST($1 AS tid) AND ctid < CAST($2 AS tid)`;
  for (let from = first; from < end; from += pagesPerTransaction) {
    const pages = [`(${from},0)`, `(${Math.min(end, from + pagesPerTransaction)},0)`];
    await inTransaction(pool, async (client) => {
      await client.query("SET LOCAL lock_timeout = '200ms'");
      // A page with free space gets its rows again until it is full.
      for (let tries = 0, moved = 1; tries < 5 && moved > 0; tries++)
        moved = (await client.query(move, pages)).rowCount ?? 0;
    });
  }
}

/** With an index of more rows, others would wait for too long. */
const mostIndexedRows = 100_000;

/** Bytes: far more than an index needs for a row. */
const bytesPerEntry = 400;

/** VACUUM never makes an index smaller, also where nearly all rows of its table have gone, as those of folded outcomes. */
async function rebuildIndexes(pool: pg.Pool, table: string, { tuples }: Space): Promise<void> {
  if (tuples > mostIndexedRows) return;
  const { rows } = await pool.query<{ index: string }>(
    `
    SELECT CAST(indexrelid::regclass AS text) AS index
    FROM pg_index
    WHERE indrelid = $1::regclass AND pg_relation_size(indexrelid) > $2
    `,
    [table, Math.max(least.bytes, Math.round(tuples * bytesPerEntry))],
  );
  for (const { index } of rows)
    await inTransaction(pool, async (client) => {
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

/** Estimates from some pages: VACUUM does not count rows in pages that it skips. */
async function readSpace(pool: pg.Pool, table: string): Promise<Space> {
  const { rows: sizes } = await pool.query<Pick<Space, 'pages' | 'bytes'>>(
    `
    SELECT CAST(bytes / current_setting('block_size')::integer AS float8) AS pages, CAST(bytes AS float8) AS bytes
    FROM (SELECT pg_relation_size($1::regclass) AS bytes) AS size
    `,
    [table],
  );
  const { pages, bytes } = sizes[0] ?? { pages: 0, bytes: 0 };
  const share = Math.min(1, sampledPages / Math.max(1, pages));
  const { rows } = await pool.query<{ tuples: number; used: number }>(
    `
    SELECT CAST(count(*) AS float8) AS tuples, CAST(coalesce(sum(pg_column_size(t) + 4), 0) AS float8) AS used
    FROM ${table} t TABLESAMPLE system ($1)
    `,
    [100 * share],
  );
  const { tuples, used } = rows[0] ?? { tuples: 0, used: 0 };
  return { pages, bytes, tuples: tuples / share, used: used / share };
}

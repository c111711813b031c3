import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { down, up } from '../../migrations/20261127170204_run_groups.ts';
import { migrateLedger } from '../../src/ledger/schema.ts';
import { openTestLedger } from '../support/ledger.ts';

test('a migration that waits for a reader lets transactions that lock tables in another order go on', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const { pool, knex } = opened.ledger;
  await knex.transaction((transaction) => down(transaction));
  const [reader, writer] = [await pool.connect(), await pool.connect()];
  cleanUp.defer(() => {
    reader.release();
    writer.release();
  });
  await reader.query('BEGIN; SELECT FROM runs');
  await writer.query('BEGIN; LOCK TABLE slices IN ROW EXCLUSIVE MODE');
  const migration = knex.transaction((transaction) => up(transaction));
  await sleep(200);
  // As booking does, which locks slices first.
  const written = writer.query('SELECT FROM runs').then(() => writer.query('COMMIT'));
  await sleep(2_500);
  await reader.query('COMMIT');
  await expect(Promise.all([migration, written])).resolves.toHaveLength(2);
});

test('a migration that deadlocks with a transaction is undone and begun again', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const { pool, knex } = opened.ledger;
  const reverted = await revertTo(knex, '20261127160001_run_counts');
  const writer = await pool.connect();
  cleanUp.defer(() => writer.release());
  await writer.query('BEGIN; LOCK TABLE slices IN ROW EXCLUSIVE MODE');
  const migrated = migrateLedger(knex);
  // It has locked requests, and waits for slices. Postgres ends whichever has waited longer.
  await expect.poll(() => waitsFor(pool, 'slices')).toBe(true);
  const written = writer.query('SELECT FROM requests').then(() => writer.query('COMMIT'));
  expect((await migrated).length).toBe(reverted);
  await written;
});

test('a migration that a killed process was committing is not begun again', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const { pool, knex } = opened.ledger;
  const { rows } = await pool.query<{ name: string; batch: number }>(
    'SELECT name, batch FROM knex_migrations',
  );
  const last =
    rows
      .map(({ name }) => name)
      .toSorted()
      .at(-1) ?? '';
  await knex.migrate.down({ name: last });
  const { up: upLast } = (await import(`../../migrations/${last}.ts`)) as Pick<Knex.Migration, 'up'>;
  const killed = await knex.transaction();
  await upLast(killed as unknown as Knex);
  await killed('knex_migrations').insert({ name: last, batch: 1, migration_time: new Date() });
  const migrated = migrateLedger(knex);
  await expect.poll(() => waitsFor(pool, 'knex_migrations')).toBe(true);
  await killed.commit();
  expect(await migrated).toEqual([]);
});

test('a migration whose record is not written is undone as a whole, and can be begun again', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const { pool, knex } = opened.ledger;
  await revertTo(knex, '20261127160001_run_counts');
  await pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the process was killed'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON knex_migrations EXECUTE FUNCTION refuse();
  `);
  await expect(migrateLedger(knex)).rejects.toThrow('the process was killed');
  await pool.query('DROP FUNCTION refuse CASCADE');
  await expect(migrateLedger(knex)).resolves.toContain('20261127160001_run_counts');
});

/** Reverts migrations to this one, which is reverted too. @returns how many */
async function revertTo(knex: Knex, name: string): Promise<number> {
  for (let reverted = 1; ; reverted++) {
    const [, names]: [number, string[]] = await knex.migrate.down();
    if (names.some((each) => each.includes(name))) return reverted;
  }
}

async function waitsFor(pool: pg.Pool, table: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted',
    [table],
  );
  return rowCount !== 0;
}

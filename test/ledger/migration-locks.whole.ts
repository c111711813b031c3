import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { down, up } from '../../migrations/20261127170204_run_groups.ts';
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

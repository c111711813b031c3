import { expect, test } from 'vitest';
import { listDeliveryResults } from '../../../src/ledger/counts/groups.ts';
import { eraseRun } from '../../../src/ledger/purge/erase-run.ts';
import { readRecipients } from '../../support/read-recipients.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

test('recipients are listed with their words, row and line, all or those with the same words, page by page', async () => {
  const { pool } = opened.ledger;
  const run = await planRunInDoubt(opened.ledger, { requests: 3 });
  await pool.query(`UPDATE requests SET state = 'accepted' WHERE run_id = $1`, [run]);
  await pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
     VALUES ($1, 1, 1, 'undelivered', 'Busy', now()), ($1, 1, 2, 'delivered', 'Success', now()),
            ($1, 2, 2, 'undelivered', NULL, now()), ($1, 3, 1, 'undelivered', 'Busy', now())`,
    [run],
  );
  const found = async (group?: string) =>
    (await readRecipients(pool, { run, states: ['undelivered'], group })).map(
      ({ request, position, reason, address, row, line }) => [request, position, reason, address, row, line],
    );
  const first = [1, 1, 'Busy', '+61410000000', 2, 2];
  const second = [2, 2, null, '+61410000003', 5, 5];
  const third = [3, 1, 'Busy', '+61410000004', 6, 6];
  expect(await found()).toEqual([first, second, third]);
  const results = await listDeliveryResults(pool, run);
  const groupOf = (words: string | null) => results.find(({ result }) => result === words)?.group;
  expect(await found(groupOf('Busy'))).toEqual([first, third]);
  expect(await found(groupOf(null))).toEqual([second]);
  expect(await found('another')).toEqual([]);
});

test('a purged run lists as many as before, without addresses and words', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 2 });
  const wanted = { run, states: ['unknown'] } as const;
  expect(await readRecipients(opened.ledger.pool, wanted)).toHaveLength(4);
  await opened.ledger.pool.query('UPDATE runs SET purged_at = now() WHERE run_id = $1', [run]);
  await eraseRun(opened.ledger.pool, run);
  const erased = { state: 'unknown', address: null, reason: null, file: '' };
  expect(await readRecipients(opened.ledger.pool, wanted)).toMatchObject([erased, erased, erased, erased]);
});

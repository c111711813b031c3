import { beforeAll, expect, test } from 'vitest';
import { listDeliveryResults } from '../../../src/ledger/counts/groups.ts';
import { listUndelivered } from '../../../src/ledger/runs/not-delivered.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
beforeAll(async () => {
  run = await planRunInDoubt(opened.ledger, { requests: 3 });
  await opened.ledger.pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
     VALUES ($1, 1, 1, 'undelivered', 'Busy', now()), ($1, 1, 2, 'delivered', 'Success', now()),
            ($1, 2, 2, 'undelivered', NULL, now()), ($1, 3, 1, 'undelivered', 'Busy', now())`,
    [run],
  );
});

const found = async (...[query, limit = 10]: [Parameters<typeof listUndelivered>[2], number?]) =>
  (await listUndelivered(opened.ledger.pool, run, query, limit)).map(
    ({ request, position, result, address, line }) => [request, position, result, address, line],
  );

test('undelivered recipients are listed with their words and their line, all or those with the same words', async () => {
  const first = [1, 1, 'Busy', '+61410000000', 2];
  const second = [2, 2, null, '+61410000003', 5];
  const third = [3, 1, 'Busy', '+61410000004', 6];
  expect(await found({})).toEqual([first, second, third]);
  const results = await listDeliveryResults(opened.ledger.pool, run);
  const groupOf = (words: string | null) => results.find(({ result }) => result === words)?.group;
  expect(await found({ group: groupOf('Busy') })).toEqual([first, third]);
  expect(await found({ group: groupOf(null) })).toEqual([second]);
  expect(await found({ group: 'another' })).toEqual([]);
});

test('the next page begins after the last recipient of the page before', async () => {
  expect((await found({}, 2)).map(([request]) => request)).toEqual([1, 2]);
  expect(await found({ after: { request: 2, position: 2 } }, 2)).toEqual([[3, 1, 'Busy', '+61410000004', 6]]);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { countUnsentRecipients } from '../../../src/ledger/runs/unsent.ts';
import {
  aContact,
  anEnvelope,
  aRun,
  openTestLedger,
  planContacts,
  type TestLedger,
} from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

test('recipients that are not sent to are those of planned requests, with and without rows', async () => {
  const { pool } = opened.ledger;
  const contacts = Array.from({ length: 5_003 }, (_, index) =>
    aContact(index + 2, {
      address: `+614${String(index).padStart(8, '0')}`,
      envelope: anEnvelope({ Message: `Hello ${index % 7}` }),
    }),
  );
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 3 }), contacts);
  const planned = async (): Promise<number> => {
    const { rows } = await pool.query<{ recipients: number }>(
      `SELECT coalesce(sum(recipients), 0)::integer AS recipients FROM request_states WHERE run_id = $1 AND state = 'planned'`,
      [run],
    );
    return rows[0]?.recipients ?? -1;
  };
  expect(await countUnsentRecipients(pool, run)).toBe(5_003);
  const claim = (requests: number) =>
    pool.query(
      `UPDATE slices SET claimed_to = least(last_request, greatest(first_request - 1, $2)), claimed_at = now() WHERE run_id = $1 AND phase = 'sending'`,
      [run, requests],
    );
  for (const claimed of [1, 2, 10, 333, 700]) {
    await claim(claimed);
    expect([claimed, await countUnsentRecipients(pool, run)]).toEqual([claimed, await planned()]);
  }
  await pool.query(
    `INSERT INTO requests (run_id, request, envelope, recipients, state)
     SELECT run_id, request, envelope, recipients, CASE WHEN request % 2 = 0 THEN 'planned' ELSE 'in_doubt' END
     FROM request_states WHERE run_id = $1 AND request BETWEEN 690 AND 710`,
    [run],
  );
  expect(await planned()).toBeGreaterThan(0);
  expect(await countUnsentRecipients(pool, run)).toBe(await planned());
  await claim(1_000_000);
  expect(await countUnsentRecipients(pool, run)).toBe(await planned());
});

import { expect, test } from 'vitest';
import { checkCounts } from '../../../src/engine/doctor/work.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

test('doctor counts the newest runs anew, and names a count that is wrong', async () => {
  const { pool } = opened.ledger;
  const now = () => new Date();
  expect(await checkCounts(pool, now)).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('No run was counted anew'),
  });
  await planContacts(opened.ledger, aRun(), [aContact(2)]);
  const run = await planContacts(opened.ledger, aRun(), [aContact(2), aContact(3)]);
  expect(await checkCounts(pool, now)).toMatchObject({
    state: 'ok',
    found: '2 new runs counted anew: the counts are right.',
  });
  await pool.query(`UPDATE run_counts SET recipients = 3 WHERE run_id = $1 AND counted = 'all'`, [run]);
  expect(await checkCounts(pool, now)).toMatchObject({
    state: 'problem',
    found: expect.stringContaining(`The counts of run ${run} are wrong: "all" has`),
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPlannedFacts } from '../../../src/engine/plan/planned-facts.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { anAccount } from '../../support/account.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

test('a plan is added up however long it takes, which for a million recipients is more than a second', async () => {
  const { ledger, context } = opened;
  const run = aRun();
  await planContacts(ledger, run, [aContact(1), aContact(2)]);
  let reading: Promise<unknown> | undefined;
  await inTransaction(ledger.pool, async (client) => {
    await client.query('LOCK TABLE contents IN ACCESS EXCLUSIVE MODE');
    reading = createPlannedFacts()(context, run.run, async () => anAccount());
    reading.catch(() => undefined);
    await sleep(1_200);
  });
  expect(await reading).toMatchObject({ recipients: 2, notes: [] });
});

test('the plan of a run says what goes first and what stops it, until the run begins', async () => {
  const { ledger, context } = opened;
  const canary = { campaign: 'test', size: { kind: 'number', recipients: 2 } as const };
  const definition = { guard: { unknown: 0.01, action: 'pause' } };
  const contacts = Array.from({ length: 6 }, (_, index) => aContact(index + 2));
  const run = await planContacts(ledger, aRun({ canary, definition, chunkSize: 1 }), contacts);
  const notes = async () => (await createPlannedFacts()(context, run, async () => anAccount())).notes;
  const guard = 'guard: the run pauses when significantly more requests than 1% are in doubt.';
  expect(await notes()).toEqual([
    'canary: 2 of 6 recipients go first, in requests 1–2; the rest waits until the run is promoted.',
    guard,
  ]);
  await ledger.pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [run]);
  expect(await notes()).toEqual([guard]);
});

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
  expect(await reading).toMatchObject({ recipients: 2 });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLiveRunLists } from '../../../src/engine/live/run-list.ts';
import { markCompleted } from '../../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { createWorld, performStep } from '../../support/billing-world.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { reportedAt } from '../../support/reportable-run.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

const rates = { currency: 'NZD', tariffs: [[{ price: '0.08', tax: '0', from: null, until: null }]] };
const payers = [{ SubAccount: 'North' }];

test('a list has the figures of a run that has just ended at once, and says when it read those that are older', async () => {
  const { context, ledger } = opened;
  const world = await createWorld(ledger, reportedAt);
  let time = 0;
  // Readings take so long that the next ones would be minutes later.
  let takes = 0;
  const lists = createLiveRunLists({ ...context, monotonic: () => (time += takes) });
  const read = async () => {
    const { runs, at, figuresAsOf } = await lists.read({});
    const [line] = runs;
    const age = figuresAsOf && at.getTime() - figuresAsOf.getTime();
    return { state: line?.head.state, cost: line?.figures?.cost?.estimated, age };
  };
  await performStep(world, { kind: 'plan', channel: 'sms', payers, contacts: 2, chunkSize: 1, rates });
  const [run = ''] = world.runs;
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  takes = 1_000;
  expect((await read()).cost).toBeUndefined();
  takes = 0;

  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  time += 60_000;
  const old = await read();
  expect([old.state, old.cost]).toEqual(['running', undefined]);
  expect(old.age).toBeGreaterThan(60_000);

  await inTransaction(ledger.pool, (client) => markCompleted(client, run, world.now));
  expect(await read()).toEqual({ state: 'completed', cost: '0.32', age: 0 });
});

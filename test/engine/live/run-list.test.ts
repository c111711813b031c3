import { expect, test } from 'vitest';
import { createLiveRunLists } from '../../../src/engine/live/run-list.ts';
import { markCompleted } from '../../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { createWorld, performStep } from '../../support/billing-world.ts';
import { reportedAt } from '../../support/reportable-run.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const rates = { currency: 'NZD', tariffs: [[{ price: '0.08', tax: '0', from: null, until: null }]] };
const payers = [{ SubAccount: 'North' }];

test('a list has the counts of each run as they are, the same in the sums above it, and the cost of a run that has just ended', async () => {
  const { context, ledger } = opened;
  const world = await createWorld(ledger, reportedAt);
  const lists = createLiveRunLists(context);
  const read = async () => {
    const { runs, groups } = await lists({}, 'UTC');
    const [line] = runs;
    return {
      state: line?.head.state,
      running: groups?.running.map(({ counts }) => counts.requests.accepted),
      accepted: line?.progress.counts.requests.accepted,
      cost: line?.figures.cost?.estimated,
    };
  };
  await performStep(world, { kind: 'plan', channel: 'sms', payers, contacts: 2, chunkSize: 1, rates });
  const [run = ''] = world.runs;
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  expect(await read()).toEqual({ state: 'running', running: [1], accepted: 1, cost: undefined });
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  expect(await read()).toEqual({ state: 'running', running: [2], accepted: 2, cost: undefined });

  await inTransaction(ledger.pool, (client) => markCompleted(client, run, world.now));
  expect(await read()).toEqual({ state: 'completed', running: [], accepted: 2, cost: '0.32' });
});

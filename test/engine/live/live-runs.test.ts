import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { createLiveRuns, type ReadLiveRun } from '../../../src/engine/live/live-runs.ts';
import { eraseRun } from '../../../src/ledger/purge/erase-run.ts';
import { markCompleted } from '../../../src/ledger/run-states/transitions.ts';
import { listRecipients } from '../../../src/ledger/runs/list-recipients.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { createWorld, performStep } from '../../support/billing-world.ts';
import { openTestLedger } from '../../support/ledger.ts';
import { planReportableRun, reportedAt } from '../../support/reportable-run.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
let live: ReadLiveRun;
let time = 0;
const settings = { environment: {}, workingFolder: '/' };
beforeAll(async () => {
  run = await planReportableRun(opened.context);
  const context = { ...opened.context, monotonic: () => time };
  live = createLiveRuns(context, settings);
});

const readRun = async () => (await live(run)) ?? expect.fail('there is no run');

test('a run is shown with its counts, answers, failures, costs and events', async () => {
  const { head, progress, answers, failures, costs, results, events, waits } = await readRun();
  expect(head).toMatchObject({ run, state: 'completed', channel: 'sms' });
  expect(progress.counts.requests).toMatchObject({ total: 4, accepted: 3, rejected: 1 });
  expect(progress.counts.recipients).toMatchObject({ total: 8, accepted: 4, delivered: 2, rejected: 2 });
  expect(answers.ended.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(5);
  expect(failures).toMatchObject([
    { state: 'rejected', reason: 'of the service', requests: 1, recipients: 2 },
  ]);
  expect(costs).toMatchObject({
    currency: 'NZD',
    total: { recipients: 8 },
    bySubAccount: { lines: [{}, {}], others: null },
  });
  expect(results).toMatchObject([{ outcome: 'delivered', result: null, recipients: 2 }]);
  expect(events?.states.map(({ state }) => state)).toEqual([
    'planned',
    'running',
    'paused',
    'running',
    'completed',
  ]);
  expect(waits).toEqual([]);
});

/** How often a statement was sent while no other was in flight. */
function countWaits(pool: pg.Pool): () => number {
  let [inFlight, waits] = [0, 0];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...words: unknown[]) => unknown;
    const counted = (...words: unknown[]): unknown => {
      if (inFlight++ === 0) waits++;
      const end = (): number => inFlight--;
      const callback = words.at(-1);
      if (typeof callback !== 'function') return (query(...words) as Promise<unknown>).finally(end);
      return query(...words.slice(0, -1), (...answer: unknown[]) => {
        end();
        callback(...answer);
      });
    };
    Object.assign(client, { query: counted });
  });
  return () => waits;
}

test('a look at an open page waits for the ledger twice: for one snapshot of the run, and for its costs', async () => {
  const { context, ledger, close } = await openTestLedger();
  const waits = countWaits(ledger.monitoring);
  const runs = createLiveRuns({ ...context, monotonic: () => 0 }, settings);
  const planned = await planReportableRun(context);
  await runs(planned);
  const before = waits();
  expect(await runs(planned)).toMatchObject({
    progress: { total: 4 },
    costs: { total: { recipients: 8 } },
  });
  expect(waits() - before).toBe(2);
  await close();
});

test('a run that does not exist is not shown', async () => {
  expect(await live('nothing')).toBeUndefined();
  expect(await live(run.slice(0, -1))).toBeUndefined();
});

test('the recipients of failed requests are listed page by page, with their rows in the contact file', async () => {
  const { failures } = await readRun();
  const wanted = { run, states: ['rejected'], group: failures?.[0]?.group } as const;
  const { pool } = opened.ledger;
  const both = await listRecipients(pool, wanted, { limit: 10 });
  expect(both).toMatchObject([
    { request: 3, position: 1, state: 'rejected', reason: 'of the service', line: 3 },
    { request: 3, position: 2, line: 5 },
  ]);
  expect(await listRecipients(pool, wanted, { after: both[0], limit: 10 })).toEqual(both.slice(1));
  expect(await listRecipients(pool, { ...wanted, group: 'other' }, { limit: 10 })).toEqual([]);
});

test('a page shows the delivery reports and costs of now, also of a run that has ended', async () => {
  const { context, ledger, close } = await openTestLedger();
  const world = await createWorld(ledger, reportedAt);
  const runs = createLiveRuns({ ...context, monotonic: () => time }, settings);
  const rates = { currency: 'NZD', tariffs: [[{ price: '0.08', tax: '0', from: null, until: null }]] };
  const payers = [{ SubAccount: 'North' }];
  await performStep(world, { kind: 'plan', channel: 'sms', payers, contacts: 2, chunkSize: 1, rates });
  const [ended = ''] = world.runs;
  await performStep(world, { kind: 'send', run: 0, requests: 2, ends: ['accepted', 'accepted'] });
  await inTransaction(ledger.pool, (client) => markCompleted(client, ended, world.now));
  const first = await runs(ended);
  expect([first?.progress.counts.recipients.accepted, first?.costs?.total.accepted]).toEqual([2, 2]);

  for (const recipient of [0, 1]) {
    const report = { recipient, units: '1', price: '0.1', outcome: 'delivered' } as const;
    await performStep(world, { kind: 'report', reports: [report] });
    // Costs of a page that is open can be a second older.
    time += 2_000;
    const { progress, costs } = (await runs(ended)) ?? {};
    expect([progress?.counts.recipients.delivered, costs?.total.price]).toEqual([
      1 + recipient,
      `0.${1 + recipient}`,
    ]);
  }
  await close();
});

test('after a purge, a page shows no words of the service', async () => {
  const before = await readRun();
  expect([before.head.purgedAt, before.failures[0]?.reason]).toEqual([null, 'of the service']);
  await opened.ledger.pool.query('UPDATE runs SET purged_at = now() WHERE run_id = $1', [run]);
  await eraseRun(opened.ledger.pool, run);
  const after = await readRun();
  expect([after.head.purgedAt, after.failures[0]?.reason]).toEqual([expect.any(Date), null]);
});

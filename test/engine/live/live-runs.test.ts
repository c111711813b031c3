import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLiveRuns, type LiveRuns } from '../../../src/engine/live/live-runs.ts';
import { listFailedRecipients } from '../../../src/ledger/runs/failure-groups.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { planReportableRun } from '../../support/reportable-run.ts';

let opened: TestLedger;
let run: string;
let live: LiveRuns;
let time = 0;
beforeAll(async () => {
  opened = await openTestLedger();
  run = await planReportableRun(opened.context);
  const context = { ...opened.context, monotonic: () => time };
  live = createLiveRuns(context, { environment: {}, workingFolder: '/' });
});
afterAll(() => opened.close());

/** As a page that is open for a while. */
async function readAll() {
  for (;;) {
    const read = await live.read(run);
    time += 1_000;
    if (read?.results) return read;
  }
}

test('a run is shown with its counts, answers, failures, costs and events', async () => {
  const { head, figures, failures, costs, results, events, waits } = await readAll();
  expect(head).toMatchObject({ run, state: 'completed', channel: 'sms' });
  expect(figures.requests).toMatchObject({ total: 4, accepted: 3, rejected: 1 });
  expect(figures.recipients).toMatchObject({ total: 8, accepted: 4, delivered: 2, rejected: 2 });
  expect(figures.counted).toEqual({ slices: 1, of: 1 });
  expect(figures.ended.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(5);
  expect(failures).toMatchObject([{ state: 'rejected', reason: 'words', requests: 1, recipients: 2 }]);
  expect(costs).toMatchObject({ currency: 'NZD', subAccounts: 2, total: { recipients: 8 } });
  expect(results).toEqual([{ outcome: 'delivered', result: null, recipients: 2 }]);
  expect(events?.states.map(({ state }) => state)).toEqual([
    'planned',
    'running',
    'paused',
    'running',
    'completed',
  ]);
  expect(waits).toEqual([]);
});

test('looks that come at the same time share one', async () => {
  const [one, other] = await Promise.all([live.read(run), live.read(run)]);
  expect(one).toBe(other);
});

test('a run that does not exist is not shown', async () => {
  expect(await live.read('nothing')).toBeUndefined();
  expect(await live.read(run.slice(0, -1))).toBeUndefined();
});

test('the recipients of failed requests are listed page by page, with their rows in the contact file', async () => {
  const { failures } = await readAll();
  const query = { group: failures?.[0]?.group };
  const { pool } = opened.ledger;
  const both = await listFailedRecipients(pool, run, query, 10);
  expect(both).toMatchObject([
    { request: 3, position: 1, state: 'rejected', reason: 'words', line: 3 },
    { request: 3, position: 2, line: 5 },
  ]);
  expect(await listFailedRecipients(pool, run, { ...query, after: both[0] }, 10)).toEqual(both.slice(1));
  expect(await listFailedRecipients(pool, run, { group: 'other' }, 10)).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import type { PlannedRun } from '../../../src/ledger/planning/planned-run.ts';
import {
  type PlanWindow,
  readWindowTotals,
  type WindowTotals,
} from '../../../src/ledger/planning/windows.ts';
import { divideRequests } from '../../../src/ledger/requests/divide.ts';
import { inSession, inTransaction } from '../../../src/ledger/session.ts';
import {
  closeWindow,
  listDueWindows,
  listWindowWaits,
  openWindow,
} from '../../../src/ledger/slices/windows.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import { beginSliced, slicePlanOf, sliceStates } from '../../support/slices.ts';

const opened = useSlicedLedger();
const monday = new Date('2026-11-23T09:00Z');

const open = (closesAt: Date | null) => ({ opensAt: null, closesAt, handover: null });
const closed = (opensAt: Date) => ({ opensAt, closesAt: null, handover: null });

/** A: open until night; B: opens on Monday; C: open until noon. */
const windows: Readonly<Record<string, ReturnType<PlanWindow>>> = {
  A: open(new Date('2026-11-20T20:00Z')),
  B: closed(monday),
  C: open(new Date('2026-11-20T12:00Z')),
};

/** One recipient in each of these zones, two to a request. */
function planIn(zones: string, changes: Partial<PlannedRun> = {}): Promise<string> {
  const contacts = [...zones].map((zone, index) =>
    aContact(index + 2, { zones: zone, envelope: anEnvelope({ Message: 'Hello' }) }),
  );
  const window: PlanWindow = ([zone = '']) => windows[zone] ?? expect.fail(zone);
  return planContacts(opened.ledger, aRun({ window, ...changes }), contacts);
}

async function rows<Row extends object>(sql: string, run: string): Promise<Row[]> {
  return (await opened.ledger.pool.query<Row>(sql, [run])).rows;
}

const slicesOf = (run: string) =>
  rows<object>(
    `SELECT slice, first_request AS first, last_request AS last, zones[1] AS zone
     FROM slices s LEFT JOIN run_windows w ON w.run_id = s.run_id AND w.window_index = s.window_index
     WHERE s.run_id = $1 AND phase = 'sending' ORDER BY slice`,
    run,
  );

describe('a run with windows', () => {
  test('each request has one window, requests that can be sent first come first, and slices end with windows', async () => {
    const run = await planIn('BABCAA');
    expect(
      await rows(
        `SELECT request, zones[1] AS zone,
                ARRAY(SELECT line FROM recipients_between(q.run_id, request, request) ORDER BY position) AS lines
         FROM request_states q
         JOIN envelopes e USING (run_id, envelope) JOIN run_windows w ON w.run_id = e.run_id AND w.window_index = e.window_index
         WHERE q.run_id = $1 ORDER BY request`,
        run,
      ),
    ).toEqual([
      { request: 1, zone: 'C', lines: [5] },
      { request: 2, zone: 'A', lines: [3, 6] },
      { request: 3, zone: 'A', lines: [7] },
      { request: 4, zone: 'B', lines: [2, 4] },
    ]);
    expect(await slicesOf(run)).toEqual([
      { slice: 1, first: 1, last: 1, zone: 'C' },
      { slice: 2, first: 2, last: 3, zone: 'A' },
      { slice: 3, first: 4, last: 4, zone: 'B' },
    ]);
  });

  test('the first slice has no more requests than asked for, and not more than the first window has', async () => {
    expect(await slicesOf(await planIn('CCCCAA', { chunkSize: 1, firstRequests: 3 }))).toEqual([
      { slice: 1, first: 1, last: 3, zone: 'C' },
      { slice: 2, first: 4, last: 4, zone: 'C' },
      { slice: 3, first: 5, last: 6, zone: 'A' },
    ]);
  });

  test('planning returns the totals and the last recipients of each window', async () => {
    let portions: readonly WindowTotals[] = [];
    await planIn('BABB', {
      checkPlan: async (client) => {
        portions = await readWindowTotals(client, true);
      },
    });
    const last = (line: number) => ({ address: `+6140000000${line}`, line });
    expect(portions).toEqual([
      { zones: ['A'], requests: 1, recipients: 1, lastRecipients: [last(3)] },
      { zones: ['B'], requests: 2, recipients: 3, lastRecipients: [last(5), last(4), last(2)] },
    ]);
  });

  test('only slices with an open window are queued, and the others are listed', async () => {
    const run = await planIn('BA');
    await beginSliced(opened.ledger, run);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'queued', 'waiting']);
    expect(await listWindowWaits(opened.ledger.pool, run)).toEqual([
      { timeZones: ['B'], until: monday.toISOString(), requests: 1, recipients: 1 },
    ]);
  });

  test('of several open windows, workers acquire the one that closes first', async () => {
    const run = await planIn('ACACAC', { chunkSize: 1 });
    // The planned order is the same, so another window has to close first.
    await rows(
      `UPDATE run_windows SET closes_at = '2026-11-20T08:00Z' WHERE run_id = $1 AND zones = '{A}'`,
      run,
    );
    await beginSliced(opened.ledger, run, { maxRunSlices: 1 });
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting', 'queued']);
  });

  test('the halves of rejected requests have slices of their own for each window', async () => {
    const run = await planIn('AACC');
    await createRequestRows(opened.ledger.pool, run);
    await rows(`UPDATE requests SET state = 'rejected' WHERE run_id = $1`, run);
    await inTransaction(opened.ledger.pool, (client) => divideRequests(client, { run, requests: [1, 2] }));
    expect(await slicesOf(run)).toEqual([
      { slice: 1, first: 1, last: 1, zone: 'C' },
      { slice: 2, first: 2, last: 2, zone: 'A' },
      { slice: 4, first: 3, last: 4, zone: 'C' },
      { slice: 5, first: 5, last: 6, zone: 'A' },
    ]);
  });
});

describe('a window that is due', () => {
  const due = async (now = monday): Promise<string[]> =>
    (await listDueWindows(opened.ledger.pool, now, ['elsewhere'])).map(({ run, zones }) => `${run} ${zones}`);

  test('a due window is opened once, and its slices are queued', async () => {
    const run = await planIn('B');
    await beginSliced(opened.ledger, run);
    expect(await due(new Date(monday.getTime() - 1))).toEqual([]);
    expect(await due()).toEqual([`${run} B`]);
    const times = { windowIndex: 1, opensAt: null, closesAt: null, now: monday };
    await openWindow(opened.queue, opened.ledger.pool, slicePlanOf(run), times);
    await openWindow(opened.queue, opened.ledger.pool, slicePlanOf(run), times);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'queued']);
    expect(await due()).toEqual([]);
  });

  test('a due window stays closed if it has closed again', async () => {
    const run = await planIn('B');
    await beginSliced(opened.ledger, run);
    const opensAt = new Date('2026-11-24T09:00Z');
    await openWindow(opened.queue, opened.ledger.pool, slicePlanOf(run), {
      windowIndex: 1,
      opensAt,
      closesAt: null,
      now: monday,
    });
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting']);
    expect(await listWindowWaits(opened.ledger.pool, run)).toMatchObject([{ until: opensAt.toISOString() }]);
  });

  test('no process opens a window of a run that is paused, waits for approval, or has an account that is not configured', async () => {
    const paused = await planIn('B');
    await rows(`UPDATE runs SET state = 'paused' WHERE run_id = $1`, paused);
    const unapproved = await planIn('B');
    await rows(
      `INSERT INTO approvals (run_id, reason, planned_by, planned_via) VALUES ($1, '{"kind": "every_run"}', 'Ann', 'cli')`,
      unapproved,
    );
    await planIn('B', { account: 'elsewhere' });
    const planned = await planIn('B');
    expect(await due()).toEqual([`${planned} B`]);
  });

  test('a due window of a finished run is cleared', async () => {
    const run = await planIn('B');
    await rows(`UPDATE runs SET state = 'cancelled' WHERE run_id = $1`, run);
    expect(await due()).toEqual([]);
    expect(await rows('SELECT opens_at FROM run_windows WHERE run_id = $1', run)).toEqual([
      { opens_at: null },
    ]);
  });

  test('a window closes for all its slices at once', async () => {
    const run = await planIn('AAAA', { chunkSize: 1, firstRequests: 2 });
    await closeWindow(opened.ledger.pool, { run, windowIndex: 1, opensAt: monday });
    await beginSliced(opened.ledger, run);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting', 'waiting']);
  });
});

test('a run without windows has the same requests as before windows existed', async () => {
  const run = await planContacts(
    opened.ledger,
    aRun(),
    [2, 3, 4].map((line) => aContact(line)),
  );
  expect(await rows('SELECT window_index FROM run_windows WHERE run_id = $1', run)).toEqual([]);
  expect(await slicesOf(run)).toEqual([{ slice: 1, first: 1, last: 2, zone: null }]);
  await inSession(opened.ledger.pool, async (client) => {
    const { rows: columns } = await client.query(
      'SELECT DISTINCT window_index FROM envelopes WHERE run_id = $1',
      [run],
    );
    expect(columns).toEqual([{ window_index: null }]);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunState } from '../../../src/domain/runs.ts';
import {
  markBegun,
  markCancelled,
  markCompleted,
  markPaused,
  markReopened,
  markResumed,
  markUnrecorded,
} from '../../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { aContact, aRun, openTestLedger, planContacts, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
let run: string;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());
beforeEach(async () => {
  run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  const { pool } = opened.ledger;
  const targets = [{ on: ['completed', 'failures', 'paused'], kind: 'webhook' }];
  await pool.query('INSERT INTO notify_lists (run_id, targets) VALUES ($1, $2)', [
    run,
    JSON.stringify(targets),
  ]);
});

type Client = Parameters<typeof markBegun>[0];
const make = (transition: (client: Client) => Promise<void>) => inTransaction(opened.ledger.pool, transition);

async function rows(sql: string): Promise<Record<string, unknown>[]> {
  return (await opened.ledger.pool.query(sql, [run])).rows;
}
const current = () =>
  rows('SELECT state, state_reason AS reason, finished_at AS over FROM runs WHERE run_id = $1');
const changes = () => rows('SELECT state, reason FROM run_states WHERE run_id = $1 ORDER BY change');
const notified = () =>
  rows(`SELECT n.event, n.reason, c.state, n.created_at = c.changed_at AS "atOnce"
        FROM notifications n JOIN run_states c USING (run_id, change) WHERE run_id = $1 ORDER BY change`);

const over = new Date('2026-11-01T03:00Z');

const unrecorded = { kind: 'untried_proof', messageId: 'aa' } as const;

const transitions = {
  begun: [(client: Client) => markBegun(client, run), ['planned'], 'running'],
  resumed: [(client: Client) => markResumed(client, run), ['paused'], 'running'],
  paused: [(client: Client) => markPaused(client, run, 'why'), ['planned', 'running'], 'paused'],
  'taken for unrecorded': [
    (client: Client) => markUnrecorded(client, run, unrecorded),
    ['planned', 'running', 'paused'],
    'paused',
  ],
  cancelled: [
    (client: Client) => markCancelled(client, run, 'why', over),
    ['planned', 'running', 'paused'],
    'cancelled',
  ],
  completed: [(client: Client) => markCompleted(client, run, over), ['running', 'paused'], 'completed'],
  reopened: [(client: Client) => markReopened(client, run, 'why'), ['completed'], 'paused'],
} as const satisfies Record<
  string,
  readonly [(client: Client) => Promise<void>, readonly RunState[], RunState]
>;

/** How a planned run comes to each state. */
const ways: Readonly<Record<RunState, readonly (keyof typeof transitions)[]>> = {
  planned: [],
  running: ['begun'],
  paused: ['paused'],
  completed: ['begun', 'completed'],
  cancelled: ['cancelled'],
};

test('that a run is planned is noted with the time at which it was', async () => {
  expect(await changes()).toEqual([{ state: 'planned', reason: null }]);
  const [known] = await rows(
    'SELECT changed_at = created_at AS same FROM run_states JOIN runs USING (run_id) WHERE run_id = $1',
  );
  expect(known).toEqual({ same: true });
});

describe.each(Object.entries(transitions))('a run is %s', (name, [transition, from, to]) => {
  const ends = to === 'completed' || to === 'cancelled';

  test.each(Object.entries(ways))('from %s, or stays as it is', async (state, way) => {
    for (const step of way) await make(transitions[step][0]);
    const [before, changedBefore, notifiedBefore] = [await current(), await changes(), await notified()];
    await make(transition);
    if (!from.some((begins) => begins === state)) {
      expect([await current(), await changes(), await notified()]).toEqual([
        before,
        changedBefore,
        notifiedBefore,
      ]);
      return;
    }
    const why = name === 'taken for unrecorded' ? unrecorded : 'why';
    const reason = to === 'running' || to === 'completed' ? null : why;
    expect(await current()).toEqual([{ state: to, reason, over: ends ? over : null }]);
    expect(await changes()).toEqual([...changedBefore, ...(state === to ? [] : [{ state: to, reason }])]);
    const told = state !== to && (to === 'completed' || to === 'paused');
    expect(await notified()).toEqual([
      ...notifiedBefore,
      ...(told ? [{ event: to, reason, state: to, atOnce: true }] : []),
    ]);
  });
});

test('the end of a run is noted with the time that the run has', async () => {
  await make(transitions.cancelled[0]);
  expect(await rows(`SELECT changed_at FROM run_states WHERE run_id = $1 AND state = 'cancelled'`)).toEqual([
    { changed_at: over },
  ]);
});

test('what is rolled back is not noted', async () => {
  await expect(
    make(async (client) => {
      await markBegun(client, run);
      await markPaused(client, run, 'why');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await changes()).toEqual([{ state: 'planned', reason: null }]);
  expect(await notified()).toEqual([]);
});

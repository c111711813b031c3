import { beforeEach, describe, expect, test } from 'vitest';
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
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
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
  rows('SELECT state, state_reason AS reason, finished_at AS "finishedAt" FROM runs WHERE run_id = $1');
const changes = () => rows('SELECT state, reason FROM run_states WHERE run_id = $1 ORDER BY change');
const notified = () =>
  rows(`SELECT n.event, n.reason, c.state, n.created_at = c.changed_at AS "sameTime"
        FROM notifications n JOIN run_states c USING (run_id, change) WHERE run_id = $1 ORDER BY change`);

const finishedAt = new Date('2026-11-01T03:00Z');

const unrecorded = { kind: 'untried_proof', messageId: 'aa' } as const;

const transitions = {
  markBegun: [(client: Client) => markBegun(client, run), ['planned'], 'running'],
  markResumed: [(client: Client) => markResumed(client, run), ['paused'], 'running'],
  markPaused: [(client: Client) => markPaused(client, run, 'why'), ['planned', 'running'], 'paused'],
  markUnrecorded: [
    (client: Client) => markUnrecorded(client, run, unrecorded),
    ['planned', 'running', 'paused'],
    'paused',
  ],
  markCancelled: [
    (client: Client) => markCancelled(client, run, 'why', finishedAt),
    ['planned', 'running', 'paused'],
    'cancelled',
  ],
  markCompleted: [
    (client: Client) => markCompleted(client, run, finishedAt),
    ['running', 'paused'],
    'completed',
  ],
  markReopened: [(client: Client) => markReopened(client, run, 'why'), ['completed'], 'paused'],
} as const satisfies Record<
  string,
  readonly [(client: Client) => Promise<void>, readonly RunState[], RunState]
>;

/** How a planned run comes to each state. */
const ways: Readonly<Record<RunState, readonly (keyof typeof transitions)[]>> = {
  planned: [],
  running: ['markBegun'],
  paused: ['markPaused'],
  completed: ['markBegun', 'markCompleted'],
  cancelled: ['markCancelled'],
};

test('the first entry of run_states has the time at which the run was planned', async () => {
  expect(await changes()).toEqual([{ state: 'planned', reason: null }]);
  const [known] = await rows(
    'SELECT changed_at = created_at AS same FROM run_states JOIN runs USING (run_id) WHERE run_id = $1',
  );
  expect(known).toEqual({ same: true });
});

describe.each(Object.entries(transitions))('%s', (name, [transition, from, to]) => {
  const ends = to === 'completed' || to === 'cancelled';

  test.each(Object.entries(ways))(
    'changes a run that is %s, or leaves it as it is if that is not a first state',
    async (state, way) => {
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
      const why = name === 'markUnrecorded' ? unrecorded : 'why';
      const reason = to === 'running' || to === 'completed' ? null : why;
      expect(await current()).toEqual([{ state: to, reason, finishedAt: ends ? finishedAt : null }]);
      expect(await changes()).toEqual([...changedBefore, ...(state === to ? [] : [{ state: to, reason }])]);
      const isNotified = state !== to && (to === 'completed' || to === 'paused');
      expect(await notified()).toEqual([
        ...notifiedBefore,
        ...(isNotified ? [{ event: to, reason, state: to, sameTime: true }] : []),
      ]);
    },
  );
});

test('run_states has the time at which the run ended', async () => {
  await make(transitions.markCancelled[0]);
  expect(await rows(`SELECT changed_at FROM run_states WHERE run_id = $1 AND state = 'cancelled'`)).toEqual([
    { changed_at: finishedAt },
  ]);
});

test('a rolled back transition leaves neither an entry nor a notification', async () => {
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

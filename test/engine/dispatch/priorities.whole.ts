import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Priority } from '../../../src/domain/runs.ts';
import { executeRun } from '../../../src/engine/runs/execute-run.ts';
import type { Account } from '../../../src/gateway/account.ts';
import type { DispatchProgress } from '../../../src/ledger/slices/progress.ts';
import { anAccount } from '../../support/account.ts';
import { type SendPeer, sendPeer } from '../../support/send-peer.ts';
import { planSlicedRun } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const never = new AbortController().signal;

function planRun(priority: Priority, account: string, slices: number, requests: number): Promise<string> {
  const definition = { dispatch: { concurrency: 2, retries: 1, priority } };
  return planSlicedRun(opened.ledger, slices, requests, { account, priority, definition });
}

function execute(
  run: string,
  account: Partial<Account>,
  onProgress: (progress: DispatchProgress) => void = () => {},
) {
  const events = { onStart: () => {}, onProgress, onDown: () => {}, onUp: () => {} };
  return executeRun(opened.context, run, {
    accountNamed: async (name) => anAccount({ ...account, name }),
    stop: never,
    events,
  });
}

/** For each call of the service, in order: whether it was of the run. */
async function callsOf(service: SendPeer, run: string): Promise<boolean[]> {
  const { rows } = await opened.ledger.pool.query<{ id: string }>(
    'SELECT message_id AS id FROM request_states WHERE run_id = $1',
    [run],
  );
  const ids = new Set(rows.map(({ id }) => id));
  return service.calls.map(({ messageId }) => ids.has(messageId));
}

const slowly = async () => {
  await sleep(3);
  return { kind: 'accepted' } as const;
};

test('an urgent run preempts a bulk run of the same account', async () => {
  await using service = await sendPeer(slowly);
  const account = { baseUrl: service.url, concurrency: 2 };
  const bulk = await planRun('bulk', 'preempted', 2, 200);
  let preempted = false;
  const ends = [
    execute(bulk, account, (watch) => {
      preempted ||= watch.preemptedBy !== null;
    }),
  ];
  await expect.poll(() => service.calls.length).toBeGreaterThan(20);
  const urgent = await planRun('urgent', 'preempted', 1, 40);
  ends.push(execute(urgent, account));
  for (const end of await Promise.all(ends))
    expect(end).toMatchObject({ kind: 'finished', summary: { state: 'completed' } });

  const isUrgent = await callsOf(service, urgent);
  const [first, last] = [isUrgent.indexOf(true), isUrgent.lastIndexOf(true)];
  // Those in flight.
  expect(isUrgent.slice(first, last).filter((urgent) => !urgent).length).toBeLessThanOrEqual(2);
  expect(last).toBeLessThan(400);
  expect(preempted).toBe(true);
  expect(service.accepted()).toHaveLength(440);
  expect(new Set(service.accepted().map(({ messageId }) => messageId)).size).toBe(440);
});

test('an urgent run does not wait for the rate that a bulk run has reserved', async () => {
  await using service = await sendPeer(() => ({ kind: 'accepted' }));
  // One request a second, and the bulk run has reserved the next.
  const account = { baseUrl: service.url, concurrency: 4, requestsPerSecond: 1 };
  const bulk = await planRun('bulk', 'slow', 1, 2);
  const urgent = await planRun('urgent', 'slow', 1, 1);
  const end = execute(bulk, account);
  await expect.poll(() => service.calls.length).toBe(1);
  await execute(urgent, account);
  expect(await callsOf(service, urgent)).toEqual([false, true]);
  await end;
});

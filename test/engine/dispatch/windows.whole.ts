import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { isOpen, type WindowRule } from '../../../src/campaign/window.ts';
import type { EngineContext } from '../../../src/engine/context.ts';
import { windowPlanner } from '../../../src/engine/dispatch/windows.ts';
import { executeRun, type RunEnd } from '../../../src/engine/runs/execute-run.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import type { PlannedRun } from '../../../src/ledger/planning/planned-run.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { anAccount } from '../../support/account.ts';
import { startClock, type TestClock } from '../../support/clock.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { readJournal } from '../../support/journal.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { type SendCall, type SendPeer, type SendReply, sendPeer } from '../../support/send-peer.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const opened = testLedger();
afterEach(async () => {
  await opened.ledger.pool.query('DELETE FROM volley_queue.job');
  await emptyLedger(opened.ledger.pool);
});

const never = new AbortController().signal;
const zones = ['Pacific/Auckland', 'Australia/Perth'] as const;
/** One minute a day. */
const short: WindowRule = { days: [1, 2, 3, 4, 5], from: 540, to: 541 };
const fridayEvening = '2026-11-20T07:00:00Z';

type Arrival = SendCall & { readonly at: Date; readonly zone: string };

type Scene = AsyncDisposable & {
  readonly clock: TestClock;
  readonly context: EngineContext;
  readonly peer: SendPeer;
  readonly arrivals: readonly Arrival[];
  readonly plan: (requests: number, window?: PlanChanges) => Promise<string>;
  readonly execute: (run: string, scene?: Partial<Execution>) => Promise<RunEnd>;
};
type PlanChanges = Partial<WindowRule> & {
  readonly hold?: 'engine' | 'service';
  readonly run?: Partial<PlannedRun>;
};
type Execution = {
  readonly stop: AbortSignal;
  /** Instead of the scene's service. */
  readonly url: string;
  /** Instead of setting the clock to the opening. */
  readonly onWait: (opensAt: Date) => void;
};

/** Requests of one recipient each, alternately in both zones, and a service that records arrivals. */
async function openScene(
  at: string,
  reply: (call: SendCall) => SendReply = () => ({ kind: 'accepted' }),
): Promise<Scene> {
  const clock = startClock(at);
  const context: EngineContext = { ...opened.context, now: clock.now };
  const arrivals: Arrival[] = [];
  const zoneOf = ([address = '']: readonly string[]): string => zones[Number(address.at(-1)) % 2] ?? '';
  const peer = await sendPeer((call) => {
    arrivals.push({ ...call, at: clock.now(), zone: zoneOf(call.recipients) });
    return reply(call);
  });
  const plan = (requests: number, { hold = 'engine', run, ...rule }: PlanChanges = {}): Promise<string> => {
    const window = { ...short, ...rule, hold };
    const contacts = Array.from({ length: requests }, (_, index) =>
      aContact(index + 2, {
        zones: zones[index % 2] ?? '',
        envelope: anEnvelope({ Message: `Hello ${index >> 1}` }),
      }),
    );
    const planned = aRun({
      chunkSize: 1,
      definition: { dispatch: { concurrency: 1, retries: 2 }, window },
      window: windowPlanner(window, 'rest-2.02', clock.now()),
      createdAt: clock.now(),
      ...run,
    });
    return planContacts(opened.ledger, planned, contacts);
  };
  const execute: Scene['execute'] = (run, { stop = never, url = peer.url, onWait = clock.jumpTo } = {}) =>
    executeRun(context, run, {
      accountNamed: async () => anAccount({ baseUrl: url }),
      stop,
      events: {
        onStart: () => {},
        onDown: () => {},
        onUp: () => {},
        onProgress: ({ opensAt, state }) => {
          if (opensAt !== null && state === 'running') onWait(opensAt);
        },
      },
    });
  return {
    clock,
    context,
    peer,
    arrivals,
    plan,
    execute,
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}

function expectInside(arrivals: readonly Arrival[], rule: WindowRule = short): void {
  expect(arrivals.filter(({ at, zone }) => !isOpen(rule, [zone], at))).toEqual([]);
}

test('requests that do not fit into a window wait for the next one, and none arrives outside', async () => {
  // 27 requests fit into a window.
  await using scene = await openScene(fridayEvening, () => {
    scene.clock.advance(2);
    return { kind: 'accepted' };
  });
  const run = await scene.plan(80);
  expect(await scene.execute(run)).toMatchObject({ kind: 'finished' });
  expect(scene.arrivals).toHaveLength(80);
  expect(new Set(scene.arrivals.map(({ messageId }) => messageId)).size).toBe(80);
  expectInside(scene.arrivals);
  // Two mornings in each zone.
  const mornings = scene.arrivals.map(({ at, zone }) => `${zone} ${at.toISOString().slice(0, 10)}`);
  expect([...new Set(mornings)]).toEqual([
    'Pacific/Auckland 2026-11-22',
    'Australia/Perth 2026-11-23',
    'Pacific/Auckland 2026-11-23',
    'Australia/Perth 2026-11-24',
  ]);
});

test('the sandbox receives the requests of each zone while its window is open', async () => {
  await using workspace = await makeWorkspace();
  await using scene = await openScene(fridayEvening);
  const journal = join(workspace.folder, 'journal.jsonl');
  const sandbox = await startSandbox({ journal, now: scene.clock.now });
  const run = await scene.plan(12, { to: 600 });
  expect(await scene.execute(run, { url: sandbox.url })).toMatchObject({ kind: 'finished' });
  await sandbox.close();
  const heard = await readJournal(journal);
  expect(heard.map(({ at }) => String(at).slice(0, 13))).toEqual([
    ...Array(6).fill('2026-11-22T20'),
    ...Array(6).fill('2026-11-23T01'),
  ]);
});

test('a request is not retried outside its window', async () => {
  await using scene = await openScene(fridayEvening, ({ call }) => {
    if (call > 1) return { kind: 'accepted' };
    // The window closes before the retry.
    scene.clock.advance(60);
    return { kind: 'busy' };
  });
  const run = await scene.plan(1);
  expect(await scene.execute(run)).toMatchObject({
    kind: 'finished',
    summary: { requests: { accepted: 1 } },
  });
  expect(scene.arrivals.map(({ at }) => at.toISOString().slice(0, 16))).toEqual([
    '2026-11-22T20:00',
    '2026-11-23T20:00',
  ]);
  expectInside(scene.arrivals);
});

test('a request in doubt is not sent again outside its window', async () => {
  await using scene = await openScene(fridayEvening, ({ call }) => {
    scene.clock.advance(60);
    return { kind: call === 1 ? 'lost' : 'accepted' };
  });
  const dispatch = { concurrency: 1, retries: 0, onUnknown: 'resend', resends: 1 };
  const run = await scene.plan(1, {
    run: { definition: { dispatch, window: { ...short, hold: 'engine' } } },
  });
  expect(await scene.execute(run)).toMatchObject({
    kind: 'finished',
    summary: { requests: { accepted: 1 } },
  });
  expect(scene.arrivals.map(({ at }) => at.toISOString().slice(0, 10))).toEqual(['2026-11-22', '2026-11-23']);
  expectInside(scene.arrivals);
});

describe('executeRun with closed windows only', () => {
  const opening = '2026-11-22T20:00:00.000Z';

  test('a waiting run reports zones and opening times, and holds no slice', async () => {
    await using scene = await openScene(fridayEvening);
    const run = await scene.plan(4);
    const stop = new AbortController();
    const stopped = scene.execute(run, { stop: stop.signal, onWait: () => stop.abort() });
    expect(await stopped).toMatchObject({ kind: 'drained' });
    const resumed = scene.execute(run, { onWait: () => {} });
    await expect
      .poll(async () => requireSummary(scene.context, run))
      .toMatchObject({
        state: 'running',
        waits: [
          { timeZones: ['Pacific/Auckland'], until: opening, requests: 2, recipients: 2 },
          { timeZones: ['Australia/Perth'], until: '2026-11-23T01:00:00.000Z', requests: 2, recipients: 2 },
        ],
      });
    const { rows } = await opened.ledger.pool.query(
      `SELECT FROM slices WHERE run_id = $1 AND state <> 'waiting'`,
      [run],
    );
    expect(rows).toEqual([]);
    await cancelRun(await opened.ledger.queue(), opened.ledger.pool, run, {
      reason: 'enough',
      now: scene.clock.now(),
    });
    expect(await resumed).toMatchObject({ kind: 'cancelled', summary: { requests: { cancelled: 4 } } });
    expect(await requireSummary(scene.context, run)).not.toHaveProperty('waits');
    expect(scene.arrivals).toEqual([]);
  });

  test('a waiting run can be paused, and is sent when it is resumed after the opening', async () => {
    await using scene = await openScene(fridayEvening);
    const run = await scene.plan(2, { to: 600 });
    const queue = await opened.ledger.queue();
    const paused = scene.execute(run, {
      onWait: () => void pauseRun(queue, opened.ledger.pool, run, { reason: 'lunch' }),
    });
    expect(await paused).toMatchObject({ kind: 'paused' });
    expect(await requireSummary(scene.context, run)).not.toHaveProperty('waits');
    scene.clock.jumpTo(new Date('2026-11-23T01:10:00Z'));
    expect(await scene.execute(run)).toMatchObject({ kind: 'finished' });
    // Auckland's window was over.
    expect(scene.arrivals.map(({ zone, at }) => `${zone} ${at.toISOString().slice(0, 10)}`)).toEqual([
      'Australia/Perth 2026-11-23',
      'Pacific/Auckland 2026-11-23',
    ]);
    expectInside(scene.arrivals, { ...short, to: 600 });
  });
});

describe('windows with hold: service', () => {
  test('a request outside its window is sent at once with the next opening as SendTime', async () => {
    // Open in Perth, closed in Auckland.
    await using scene = await openScene('2026-11-20T07:00:00Z');
    const run = await scene.plan(2, { from: 540, to: 1_200, hold: 'service', days: [5, 6] });
    expect(await scene.execute(run)).toMatchObject({ kind: 'finished' });
    const { rows } = await opened.ledger.pool.query<{ zones: string[]; fields: Record<string, string> }>(
      `SELECT zones, fields FROM envelopes JOIN run_windows USING (run_id, window_index) WHERE run_id = $1 ORDER BY 1`,
      [run],
    );
    expect(rows).toEqual([
      { zones: ['Australia/Perth'], fields: { Message: 'Hello 0' } },
      {
        zones: ['Pacific/Auckland'],
        fields: { Message: 'Hello 0', SendTime: '2026-11-21T09:00', TimeZone: 'Pacific/Auckland' },
      },
    ]);
    expect(scene.arrivals.map(({ at }) => at.toISOString().slice(0, 13))).toEqual([
      '2026-11-20T07',
      '2026-11-20T07',
    ]);
  });

  test('a request whose SendTime is over waits for its window', async () => {
    await using scene = await openScene(fridayEvening);
    const run = await scene.plan(1, { hold: 'service' });
    scene.clock.jumpTo(new Date('2026-11-22T21:00:00Z'));
    expect(await scene.execute(run)).toMatchObject({ kind: 'finished' });
    expect(scene.arrivals.map(({ at }) => at.toISOString().slice(0, 16))).toEqual(['2026-11-23T20:00']);
  });

  test('an earlier version of the interface gets SendTime and TimeZone in UTC', () => {
    const plan = windowPlanner({ ...short, hold: 'service' }, 'rest-1.04', new Date(fridayEvening));
    expect(plan?.(['Antarctica/Troll'])?.handover?.fields).toEqual({
      SendTime: '2026-11-20T09:00',
      TimeZone: 'UTC',
    });
  });
});

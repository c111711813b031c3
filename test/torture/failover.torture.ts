import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { openLedgerIn } from '../support/ledger.ts';
import { findPostgresPrograms } from '../support/postgres-programs.ts';
import {
  makeReplicatedOrigin,
  type ReplicatedOrigin,
  type ReplicatedPostgres,
  type Replication,
} from '../support/replicated-postgres.ts';
import type { Started } from '../support/volley.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const failovers = Number(process.env['VOLLEY_TORTURE_FAILOVERS'] ?? 12);
const senders: readonly SenderEnd[] = ['killed', 'goes on', 'interrupted'];

let origin: ReplicatedOrigin;
beforeAll(async () => {
  origin = await makeReplicatedOrigin(findPostgresPrograms());
});
afterAll(() => origin?.[Symbol.dispose]());

async function torture(replication: Replication): Promise<readonly FailoverFigures[]> {
  const all: FailoverFigures[] = [];
  for (let index = 0; index < failovers; index++) {
    const random = (what: string, below: number) =>
      Math.floor(seededRandom(seed, replication, what, index) * below);
    const sender = senders[index % senders.length] ?? 'killed';
    const stalled = random('is stalled', 4) === 0 ? 0 : random('stalled', 150);
    await using postgres = await origin.startPair(replication);
    const figures = await failOver(postgres, { after: 20 + random('after', 500), stalled, sender });
    all.push(figures);
    // Vitest would hold back the log.
    process.stdout.write(
      `  ${replication}, stalled for ${stalled} ms, the sender ${sender}: ${JSON.stringify(figures)}\n`,
    );
  }
  const sum = (count: (figures: FailoverFigures) => number) =>
    all.reduce((total, figures) => total + count(figures), 0);
  const lines: [string, number | string][] = [
    ['seed', seed],
    ['failovers', all.length],
    ['with requests that the ledger had forgotten', sum(({ missingClaims }) => Math.min(missingClaims, 1))],
    ['requests that it had forgotten', sum(({ missingClaims }) => missingClaims)],
    ['nothing was missing, said an operator', sum(({ nothingMissing }) => Number(nothingMissing))],
    ['in doubt in the end', sum(({ inDoubt }) => inDoubt)],
    ['accepted', sum(({ accepted }) => accepted)],
  ];
  console.log([replication, ...lines.map(([what, value]) => `${what.padEnd(46)} ${value}`)].join('\n'));
  return all;
}

test('a failover to a synchronous standby loses no request and sends none twice', async () => {
  for (const figures of await torture('synchronous'))
    expect(figures).toMatchObject({ missingClaims: 0, nothingMissing: true, found: false });
});

test('requests lost in a failover to an asynchronous standby are noticed and not sent again', async () => {
  const all = await torture('asynchronous');
  const lossy = all.filter(({ missingClaims }) => missingClaims > 0);
  expect(lossy.length).toBeGreaterThan(0);
  for (const figures of lossy) expect(figures).toMatchObject({ nothingMissing: false, found: true });
});
type SenderEnd = 'killed' | 'interrupted' | 'goes on';

type FailoverPlan = {
  /** Requests that the service has received before the kill. */
  readonly after: number;
  /** How long replication stands still before that (milliseconds). */
  readonly stalled: number;
  readonly sender: SenderEnd;
};

type FailoverFigures = {
  /** Requests that the service accepted, and that the promoted standby has as planned. */
  readonly missingClaims: number;
  /** Whether the operator could declare that nothing is missing. */
  readonly nothingMissing: boolean;
  /** Whether Volley found a claim that the ledger lacks. */
  readonly found: boolean;
  readonly inDoubt: number;
  readonly accepted: number;
};

const requests = 1_500;
const concurrency = 8;

/**
 * Kills the primary during a run, promotes the standby, and moves the address to it. Expects that nothing is sent
 * until an operator releases the ledger, that the run then completes, and that no request is accepted twice.
 */
async function failOver(
  postgres: ReplicatedPostgres,
  { after, stalled, sender }: FailoverPlan,
): Promise<FailoverFigures> {
  const database = { connection: { connectionString: postgres.url }, url: postgres.url };
  await using scene = await openDispatchScene({
    requests,
    concurrency,
    peer: { latency: 3, rejects: 0.02, busy: 0.02 },
    ledger: openLedgerIn({ ...database, drop: async () => undefined }),
  });
  const run = await scene.plan();
  const started = scene.start(['resume', run]);
  await scene.peer.hasReceived(after);
  const from = Date.now();
  if (stalled > 0) postgres.stallReplication();
  await sleep(stalled);
  await postgres.killPrimary();
  if (sender !== 'goes on') await end(started, sender);
  await postgres.promote();
  const promotedAt = Date.now();
  postgres.moveAddress();
  if (sender === 'goes on') {
    const { code, stderr } = await started.ended;
    expect(code, stderr).toBe(4);
    expect(stderr).toMatch(/a standby was promoted|that the ledger lacks/);
  }
  const kill = { what: `failover, the sender ${sender}`, from, to: Date.now() };

  const before = scene.peer.received().requests;
  const refused = await scene.runHere(['resume', run]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Nothing is sent until an operator releases the ledger'),
  });
  const missingClaims = await countMissingClaims(scene, run);
  const restored = (...words: string[]) =>
    scene.runHere(['db', 'restored', ...words, '--reason', 'the primary was lost']);
  const { code } = await restored('--nothing-missing');
  const nothingMissing = code === 0;
  const since = `${new Date(from - 60_000).toISOString().slice(0, 19)}Z`;
  if (!nothingMissing) expect(await restored('--since', since)).toMatchObject({ code: 0 });
  expect(scene.peer.received().requests, 'sent before the operator spoke').toBe(before);
  const resumed = await scene.runHere(['resume', run]);
  expect([0, 3], resumed.stderr).toContain(resumed.code);
  const figures = nothingMissing
    ? await expectNothingLostOrDuplicated(scene, { run, kills: [kill], timesToFirstRequest: [] }, concurrency)
    : await expectNothingDuplicated(scene, run, promotedAt);
  return {
    missingClaims,
    nothingMissing,
    found: refused.stderr.includes('that the ledger lacks'),
    inDoubt: figures.inDoubt,
    accepted: figures.accepted,
  };
}

async function end(started: Started, how: 'killed' | 'interrupted'): Promise<void> {
  if (how === 'interrupted') {
    // During an outage that the process has noticed.
    await Promise.race([started.waitForText('database outage'), sleep(1_000)]);
    started.process.kill('SIGINT');
  } else started.process.kill('SIGKILL');
  await started.ended;
}

type DbRequest = { readonly message_id: string; readonly state: string };

async function requestsOf({ ledger }: DispatchScene, run: string): Promise<readonly DbRequest[]> {
  const sql = 'SELECT message_id, state FROM request_states WHERE run_id = $1';
  return (await ledger.ledger.pool.query<DbRequest>(sql, [run])).rows;
}

async function acceptedTimes(scene: DispatchScene): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  for (const { messageId } of await scene.peer.acceptances())
    times.set(messageId, (times.get(messageId) ?? 0) + 1);
  return times;
}

async function countMissingClaims(scene: DispatchScene, run: string): Promise<number> {
  const times = await acceptedTimes(scene);
  const rows = await requestsOf(scene, run);
  return rows.filter(({ message_id, state }) => state === 'planned' && times.has(message_id)).length;
}

/** Expects that the service's acceptances are accepted or in doubt in the ledger, and none is repeated. */
async function expectNothingDuplicated(scene: DispatchScene, run: string, promotedAt: number) {
  const times = await acceptedTimes(scene);
  const rows = await requestsOf(scene, run);
  expect(
    [...times.values()].filter((count) => count > 1),
    'accepted twice',
  ).toEqual([]);
  const inState = (...states: string[]) => rows.filter(({ state }) => states.includes(state));
  expect(inState('planned', 'sending'), 'left behind').toEqual([]);
  const untrue = inState('accepted').filter(({ message_id }) => !times.has(message_id));
  expect(untrue, 'accepted in the ledger only').toEqual([]);
  const unknown = inState('rejected', 'failed').filter(({ message_id }) => times.has(message_id));
  expect(unknown, 'accepted by the service, and neither accepted nor in doubt').toEqual([]);
  expect(rows).toHaveLength(requests);
  const late = scene.peer.arrivals().filter((at) => at > promotedAt + 1_000);
  expect(late, 'sent after the standby was promoted, though nothing was planned any more').toEqual([]);
  return { inDoubt: inState('in_doubt').length, accepted: inState('accepted').length };
}

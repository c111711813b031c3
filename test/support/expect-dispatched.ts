import { expect } from 'vitest';
import type { RequestState } from '../../src/domain/runs.ts';
import { summariseRun } from '../../src/ledger/runs/describe-run.ts';
import type { Acceptance } from './accepting-service.ts';
import type { DispatchScene } from './dispatch-scene.ts';
import { expectCountsKept } from './expect-counts.ts';
import type { Killed, KilledRun } from './kill-dispatches.ts';
import { attemptsWithoutEnd } from './outage-runs.ts';

/** Requests of a completed run, except `recipients` and `acceptedAgain`. */
export type Figures = {
  readonly requests: number;
  readonly recipients: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly failed: number;
  readonly inDoubt: number;
  /** Requests in doubt that the service has. */
  readonly inDoubtAccepted: number;
  /** Repeated acceptances. */
  readonly acceptedAgain: number;
};

/**
 * A process can have claimed this many times its requests in flight: twice, and twice more in a claim that it makes
 * meanwhile.
 */
const claimedAtOnce = 4;

type DbRequest = {
  readonly request: number;
  readonly message_id: string;
  readonly state: RequestState;
  readonly addresses: string[];
  readonly resends: number;
};

/**
 * Compares the ledger with what the service accepted: nothing lost, nothing duplicated except by resends, every
 * unknown explained.
 *
 * @param concurrency requests in flight per process
 */
export async function expectNothingLostOrDuplicated(
  scene: DispatchScene,
  { run, kills }: KilledRun,
  concurrency: number,
): Promise<Figures> {
  const acceptances = await scene.peer.acceptances();
  const times = timesAccepted(acceptances);
  const rows = await requestsOf(scene, run);
  const inState = (...states: readonly RequestState[]) => rows.filter(({ state }) => states.includes(state));
  const timesOf = ({ message_id }: DbRequest) => times.get(message_id) ?? 0;

  const summary = (await summariseRun(scene.ledger.ledger.pool, run)) ?? expect.fail('there is no run');
  await expectCountsKept(scene.ledger.ledger.pool, run);
  expect(summary.state).toBe('completed');
  expectSums(summary.requests, rows.length);
  expectSums(summary.recipients, rows.flatMap(({ addresses }) => addresses).length);
  expect(inState('planned', 'sending', 'cancelled', 'abandoned'), 'left behind').toEqual([]);
  expect(acceptancesWithOtherRecipients(acceptances, rows), 'accepted as it was not planned').toEqual([]);
  const lost = inState('accepted').filter((request) => timesOf(request) === 0);
  expect(lost, 'accepted in the ledger, and the service has it not').toEqual([]);
  const wronglyNot = inState('rejected', 'failed').filter((request) => timesOf(request) > 0);
  expect(wronglyNot, 'not accepted in the ledger, and the service has it').toEqual([]);
  const twice = rows.filter((request) => timesOf(request) > 1 + request.resends);
  expect(twice, 'accepted more often than it was sent on purpose').toEqual([]);
  expect(await attemptsWithoutEnd(scene.ledger.ledger, run), 'attempts that never ended').toEqual([]);
  await expectDoubtsExplained(scene, run, kills, claimedAtOnce * concurrency);
  const doubtful = inState('in_doubt');
  if (scene.onUnknown === 'resend') {
    // The ledger cannot know that the service always refuses these.
    const without = doubtful.filter(({ message_id }) => !scene.peer.refuses(message_id));
    expect(without, 'not sent again until it was accepted').toEqual([]);
  }
  if (scene.onUnknown === 'hold') expect(acceptances, 'accepted again').toHaveLength(times.size);
  return {
    requests: rows.length,
    recipients: summary.recipients.total,
    accepted: summary.requests.accepted,
    rejected: summary.requests.rejected,
    failed: summary.requests.failed,
    inDoubt: doubtful.length,
    inDoubtAccepted: doubtful.filter((request) => timesOf(request) > 0).length,
    acceptedAgain: acceptances.length - times.size,
  };
}

async function requestsOf({ ledger }: DispatchScene, run: string): Promise<readonly DbRequest[]> {
  const { rows } = await ledger.ledger.pool.query<DbRequest>(
    `SELECT request, message_id, state, resends,
            ARRAY(SELECT address FROM recipients_between(run_id, request, request) ORDER BY position) AS addresses
     FROM request_states
     WHERE run_id = $1
     ORDER BY request`,
    [run],
  );
  return rows;
}

function timesAccepted(acceptances: readonly Acceptance[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { messageId } of acceptances) times.set(messageId, (times.get(messageId) ?? 0) + 1);
  return times;
}

function expectSums(counts: Readonly<Record<string, number>>, planned: number): void {
  const { total = 0, ...states } = counts;
  expect(total).toBe(planned);
  expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(total);
}

function acceptancesWithOtherRecipients(
  acceptances: readonly Acceptance[],
  planned: readonly DbRequest[],
): readonly Acceptance[] {
  const addresses = new Map(planned.map((request) => [request.message_id, request.addresses.join()]));
  return acceptances.filter(({ messageId, recipients }) => addresses.get(messageId) !== recipients.join());
}

/** Every attempt in doubt must overlap a kill, and no kill can have more of them than were claimed. */
async function expectDoubtsExplained(
  { ledger: { ledger } }: DispatchScene,
  run: string,
  kills: readonly Killed[],
  atOnce: number,
): Promise<void> {
  const { rows } = await ledger.pool.query<{ request: number; started_at: Date; finished_at: Date }>(
    `SELECT request, started_at, finished_at
     FROM all_attempts
     WHERE run_id = $1 AND verdict = 'in_doubt'
     ORDER BY finished_at`,
    [run],
  );
  const inOrder = kills.map((kill) => ({ ...kill, doubts: 0 })).toSorted((one, other) => one.to - other.to);
  const unexplained = rows.filter(({ started_at, finished_at }) => {
    // Using the first possible kill, in the order of their ends, finds an explanation of all if there is one.
    const kill = inOrder.find(
      ({ from, to, doubts }) => +started_at <= to && +finished_at >= from && doubts < atOnce,
    );
    if (kill) kill.doubts++;
    return kill === undefined;
  });
  const around = unexplained.flatMap(({ started_at, finished_at }) =>
    kills.filter(({ from, to }) => +started_at <= to + 2_000 && +finished_at >= from - 2_000),
  );
  const near = [...new Set(around)].map(
    ({ what, from, to }) => `${what}, ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`,
  );
  const message = `in doubt without a kill, or more than ${atOnce} of one; kills near them: ${near.join('; ')}`;
  expect(unexplained, message).toEqual([]);
}

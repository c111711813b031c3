import type { HoldReason } from '../../domain/hold-reasons.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import { type RunWait, waitOfState } from '../../domain/waits.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { readWorkers } from '../../ledger/operations/workers.ts';
import type { Connection } from '../../ledger/session.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { canaryWait } from '../watch/canary.ts';

export type WaitFacts = {
  readonly progress: DispatchProgress;
  /** Why the ledger is on hold. */
  readonly onHold: HoldReason | null;
  /** Workers that run, of any run. */
  readonly workers: number;
  readonly now: Date;
  /** The limits of the account in force; undefined: not known here. */
  readonly limits?: RateLimits | undefined;
  /** Requests and recipients per second now; undefined: not measured. */
  readonly perSecond?: { readonly requests: number; readonly recipients: number } | undefined;
};

/** The most important first. */
export function waitsOf(facts: WaitFacts): RunWait[] {
  const { progress, onHold } = facts;
  const { state, stateReason, counts } = progress;
  const inDoubt = counts.requests.in_doubt;
  const waits: RunWait[] = [];
  if (onHold && (state === 'planned' || state === 'running'))
    waits.push({ kind: 'ledger on hold', reason: onHold });
  const ofState = waitOfState(state, stateReason);
  if (ofState) waits.push(ofState);
  if (state === 'running') waits.push(...runningWaits(facts));
  if (state === 'completed' && progress.rest) waits.push({ kind: 'winner', ...progress.rest });
  if (inDoubt > 0) waits.push({ kind: 'doubts', requests: inDoubt });
  return waits;
}

function runningWaits(facts: WaitFacts): RunWait[] {
  const { progress, onHold, workers, now, limits, perSecond } = facts;
  const cause = causeOf(progress, now);
  if (workers === 0 || (!onHold && !cause && isLeftIdle(facts))) return [{ kind: 'worker' }];
  if (onHold) return [];
  if (cause) return [cause];
  return limits && perSecond && isAtLimit(limits, perSecond) ? [{ kind: 'rate', limits }] : [];
}

/** What keeps workers that have the account from sending the run. */
function causeOf(progress: DispatchProgress, now: Date): RunWait | undefined {
  const { refusal, opensAt, preemptedBy } = progress;
  if (refusal)
    return { kind: 'service', since: refusal.since, retryAt: refusal.retryAt, words: refusal.reason };
  if (progress.canary?.isSent) return canaryWait(progress, now);
  if (opensAt) return { kind: 'window', opensAt };
  return preemptedBy === null ? undefined : { kind: 'urgent run', run: preemptedBy };
}

/** Milliseconds in which a worker that has the account acquires a slice. */
const acquiresWithin = 10_000;

/** Whether no worker acquires a slice of the run. Those that run may not have its account. */
function isLeftIdle({ progress, now }: WaitFacts): boolean {
  const { phase, idleSince } = progress;
  // The phase that settles doubts rests between its questions.
  if (phase === 'settling doubts' || progress.heldSlices > 0) return false;
  return idleSince !== null && now.getTime() - idleSince.getTime() > acquiresWithin;
}

/** Dispatch uses nearly all permits of a limit. */
const nearlyAll = 0.9;

function isAtLimit(limits: RateLimits, perSecond: NonNullable<WaitFacts['perSecond']>): boolean {
  const uses = (limit: number | null, used: number): boolean => limit !== null && used >= limit * nearlyAll;
  return (
    uses(limits.requestsPerSecond, perSecond.requests) ||
    uses(limits.recipientsPerSecond, perSecond.recipients)
  );
}

/** What each of the runs waits for. */
export async function readWaits(
  client: Connection,
  runs: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, readonly RunWait[]>> {
  const progresses = await readDispatchProgress(client, runs);
  const fleet = await readFleet(client);
  return new Map([...progresses].map(([run, progress]) => [run, waitsOf({ progress, ...fleet, now })]));
}

/** Reads what all runs need. */
export async function readFleet(client: Connection): Promise<Pick<WaitFacts, 'onHold' | 'workers'>> {
  const { holdReason: onHold } = await readLocation(client);
  const { workers } = await readWorkers(client);
  return { onHold, workers };
}

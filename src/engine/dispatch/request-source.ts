import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { WithheldCause } from '../../domain/reasons.ts';
import { findFirstPlanned } from '../../ledger/requests/add-rows.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { startNextAttempt } from '../../ledger/requests/release.ts';
import type { SettledState, Settlement } from '../../ledger/requests/settle.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import { trace } from '../trace-points.ts';
import {
  type AttemptResult,
  attemptOnce,
  describeOutcome,
  type PreparedRequest,
  releaseOf,
  type Sender,
  settlementOf,
  stepAfter,
} from './attempt-once.ts';
import type { Recorder } from './checkpoint.ts';
import type { SliceCheckpoint } from './checkpointer.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import { type Attempt, outOfRetries } from './next-step.ts';

/** A slice that is sent, and what its worker needs to send and record it. */
export type SliceWork = Sender & {
  readonly slice: SendingSlice;
  readonly settings: Pick<DispatchSettings, 'concurrency'>;
  readonly record: Recorder;
  readonly onSettled: (messageId: string, state: SettledState['state']) => void;
};

/** Supplies the requests of a slice and records their outcomes. */
export type RequestSource = {
  /** @returns 0 at the end */
  readonly available: (max: number) => Promise<number>;
  /** @returns none if the claim is refused now */
  readonly claim: (limit: number) => Promise<readonly ClaimedRequest[]>;
  /** @returns undefined if it was not settled here */
  readonly send: (prepared: PreparedRequest) => Promise<Settlement | undefined>;
  /** Releases claimed requests of which no byte will leave. */
  readonly release: (claimed: readonly ClaimedRequest[], because: WithheldCause) => Promise<void>;
  readonly end: () => Promise<void>;
};

/** Waits until a refused claim is repeated: its run may be paused, or a lock held. */
export async function waitAfterRefusal(stop: AbortSignal): Promise<void> {
  await sleep(250, undefined, { signal: stop }).catch(() => undefined);
}

/** Makes the slow path, which claims and records requests with rows of their own. */
export function createRowSource(work: SliceWork, checkpoint: SliceCheckpoint): RequestSource {
  const { slice, outageRetry, context, record, stop } = work;
  /** Claimed and not recorded: they may have been sent. */
  const unrecorded = new Set<number>();
  let from: number | undefined;

  return {
    async available(max) {
      const isFirst = from === undefined;
      if (from !== undefined && from <= slice.last) return Math.min(max, slice.last - from + 1);
      from = await outageRetry.retry(() => findFirstPlanned(context.ledger.pool, slice));
      if (from === undefined) return 0;
      // A claim has skipped it: another transaction is changing it.
      if (!isFirst) await waitAfterRefusal(stop);
      return Math.min(max, slice.last - from + 1);
    },
    async claim(limit) {
      const rows = await checkpoint.claimRows({ from: from ?? slice.first, limit }, [...unrecorded]);
      const highest = Math.max(0, ...[...rows.claimed, ...rows.cancelled].map(({ request }) => request));
      from = highest === 0 ? slice.last + 1 : highest + 1;
      for (const { request } of rows.claimed) unrecorded.add(request);
      return rows.claimed;
    },
    async send(prepared) {
      const settlement = await settleRow(work, prepared, await attemptOnce(work, prepared, 1));
      unrecorded.delete(prepared.claimed.request);
      return settlement;
    },
    async release(claimed, because) {
      const now = context.now();
      // If this fails too, the requests are in doubt, and the first failure is reported.
      await Promise.allSettled(claimed.map((each) => record(releaseOf(slice, each, because, now))));
    },
    end: async () => undefined,
  };
}

/** Settles a request that has a row, with further attempts where its first one allows them. */
export async function settleRow(
  work: SliceWork,
  prepared: PreparedRequest,
  first: AttemptResult,
): Promise<Settlement | undefined> {
  const settlement = await retryRequest(work, prepared, first);
  if (settlement && (await work.record(settlement)))
    work.onSettled(prepared.claimed.messageId, settlement.state);
  return settlement;
}

/** Thrown to p-retry, which needs an error to go on. */
const notSettled = new Error('the request is not settled');

/**
 * Sends a request that has a row until it is settled. p-retry holds how many attempts there are; `nextStep` decides
 * whether one follows.
 *
 * @param first what came of the first attempt since the claim
 * @returns undefined if another owner has settled the request
 */
export async function retryRequest(
  sender: Sender,
  prepared: PreparedRequest,
  first: AttemptResult,
): Promise<Settlement | undefined> {
  const { claimed } = prepared;
  let { attempt, step } = first;
  try {
    return await pRetry(
      async (attempts) => {
        if (attempts > 1) {
          if (!(await recordNextAttempt(sender, claimed, attempt))) return undefined;
          ({ attempt, step } = await attemptOnce(sender, prepared, attempts));
        }
        if (step.kind === 'retry') throw notSettled;
        return settlementOf(sender.slice, claimed, attempt, step.as);
      },
      {
        retries: sender.settings.retries,
        // p-retry's jitter can only lengthen a wait, and its signal would drop a later answer.
        minTimeout: 0,
        shouldRetry: async ({ error, attemptNumber }) => {
          if (error !== notSettled || step.kind !== 'retry') return false;
          await wait(step.after, sender);
          // The worker may be stopping now, or the breaker open.
          step = stepAfter(sender, claimed, attempt, attemptNumber);
          return step.kind === 'retry';
        },
      },
    );
  } catch (error) {
    if (error !== notSettled) throw error;
    return settlementOf(sender.slice, claimed, attempt, step.kind === 'settle' ? step.as : outOfRetries);
  }
}

/** Ends early when the worker stops or the breaker opens. */
async function wait(milliseconds: number, { stop, breaker }: Sender): Promise<void> {
  const signal = breaker ? AbortSignal.any([stop, breaker.openSignal()]) : stop;
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** @returns false if another worker owns the request */
async function recordNextAttempt(
  { context, limiter, outageRetry, slice: { run, owner } }: Sender,
  { request, destinations }: ClaimedRequest,
  { number, httpStatus, outcome, finishedAt }: Attempt,
): Promise<boolean> {
  const detail = describeOutcome(outcome);
  const ended = { run, owner, request, attempt: number, httpStatus, finishedAt, detail };
  const owned = await outageRetry.retry(() =>
    startNextAttempt(context.ledger.pool, { ...ended, now: context.now() }),
  );
  if (!owned) return false;
  trace('next attempt', run, request);
  // No request waits for the rate while `sending`; later ones wait longer.
  await outageRetry.retry(() => limiter.spend({ admitted: 0, claimed: 1, recipients: destinations.count }));
  return true;
}

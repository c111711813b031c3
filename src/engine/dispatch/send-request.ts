import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { ClaimedRequest } from '../../ledger/requests/claimed-request.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
import { startNextAttempt } from '../../ledger/requests/start-next-attempt.ts';
import { trace } from '../trace-points.ts';
import { type Attempt, describeOutcome } from './attempt.ts';
import {
  type AttemptResult,
  attemptOnce,
  type PreparedRequest,
  type Sender,
  settlementOf,
  stepAfter,
} from './attempt-once.ts';

/** @returns undefined if another owner has settled the request */
export async function sendRequest(
  sender: Sender,
  prepared: PreparedRequest,
): Promise<Settlement | undefined> {
  const first = await attemptOnce(sender, prepared, 1);
  if (first.step.kind === 'retry') return retryRequest(sender, prepared, first);
  return settlementOf(sender, prepared.claimed, first.attempt, first.step.as);
}

/**
 * p-retry repeats; `nextStep` decides how often and when.
 *
 * @returns undefined if another owner has settled the request
 */
export function retryRequest(
  sender: Sender,
  prepared: PreparedRequest,
  first: AttemptResult,
): Promise<Settlement | undefined> {
  const { claimed } = prepared;
  let last = first;
  return pRetry(
    async (attempts) => {
      if (attempts > 1) {
        // The worker may be stopping now, or the breaker open.
        const step = stepAfter(sender, claimed, last.attempt, attempts - 1);
        if (step.kind === 'settle') return settlementOf(sender, claimed, last.attempt, step.as);
        if (!(await recordNextAttempt(sender, claimed, last.attempt))) return undefined;
        last = await attemptOnce(sender, prepared, attempts);
      }
      if (last.step.kind === 'retry') throw new RetryAfter(last.step.after);
      return settlementOf(sender, claimed, last.attempt, last.step.as);
    },
    {
      retries: Number.POSITIVE_INFINITY,
      shouldRetry: ({ error }) => error instanceof RetryAfter,
      // p-retry's jitter can only lengthen a wait, and its signal would drop a later answer.
      minTimeout: 0,
      onFailedAttempt: async ({ error }) => {
        if (error instanceof RetryAfter) await wait(error.after, sender);
      },
    },
  );
}

class RetryAfter extends Error {
  readonly after: number;

  constructor(after: number) {
    super(`retry after ${after} ms`);
    this.after = after;
  }
}

/** Ends early when the worker stops or the breaker opens. */
async function wait(milliseconds: number, { stop, breaker }: Sender): Promise<void> {
  const signal = breaker ? AbortSignal.any([stop, breaker.openSignal()]) : stop;
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** @returns false if another worker owns the request */
async function recordNextAttempt(
  { context, limiter, outageRetry, run, owner }: Sender,
  { request, destinations }: ClaimedRequest,
  { number, httpStatus, outcome, finishedAt }: Attempt,
): Promise<boolean> {
  const owned = await outageRetry.retry(() =>
    startNextAttempt(context.ledger.pool, {
      run,
      owner,
      request,
      attempt: number,
      httpStatus,
      finishedAt,
      detail: describeOutcome(outcome),
      now: context.now(),
    }),
  );
  if (!owned) return false;
  trace('next attempt', run, request);
  // No request waits for the rate while `sending`; later ones wait longer.
  await outageRetry.retry(() => limiter.spend({ admitted: 0, claimed: 1, recipients: destinations.count }));
  return true;
}

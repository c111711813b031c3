import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { ClaimedRequest } from '../../ledger/requests/claimed-request.ts';
import { startNextAttempt } from '../../ledger/requests/retry.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
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

/** Most are settled by their first attempt. @returns undefined when another owner has settled the request meanwhile */
export async function sendRequest(
  sender: Sender,
  prepared: PreparedRequest,
): Promise<Settlement | undefined> {
  const first = await attemptOnce(sender, prepared, 1);
  if (first.step.kind === 'send again') return retryRequest(sender, prepared, first);
  return settlementOf(sender, prepared.claimed, first.attempt, first.step.as);
}

/**
 * p-retry repeats, `nextStep` says how often and after how long.
 *
 * @returns undefined when another owner has settled the request meanwhile
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
        // While it waited, the run may have been stopped, or the service found to refuse everything.
        const step = stepAfter(sender, claimed, last.attempt, attempts - 1);
        if (step.kind === 'settle') return settlementOf(sender, claimed, last.attempt, step.as);
        if (!(await recordNextAttempt(sender, claimed, last.attempt))) return undefined;
        last = await attemptOnce(sender, prepared, attempts);
      }
      if (last.step.kind === 'send again') throw new RetryAfter(last.step.after);
      return settlementOf(sender, claimed, last.attempt, last.step.as);
    },
    {
      retries: Number.POSITIVE_INFINITY,
      shouldRetry: ({ error }) => error instanceof RetryAfter,
      // p-retry's own jitter only ever lengthens a wait; this one is awaited, and waits in its place. p-retry's signal would
      // drop an answer that comes after it.
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
    super(`to be sent again after ${after} ms`);
    this.after = after;
  }
}

/** @returns early when it is to stop, or the service is found to refuse everything */
async function wait(milliseconds: number, { stop, breaker }: Sender): Promise<void> {
  const signal = breaker ? AbortSignal.any([stop, breaker.openSignal()]) : stop;
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** @returns false when this owner no longer holds the request */
async function recordNextAttempt(
  { context, limiter, outageRetry, run, owner }: Sender,
  { request, destinations }: ClaimedRequest,
  { number, httpStatus, outcome, finishedAt }: Attempt,
): Promise<boolean> {
  const owned = await outageRetry.retry(() =>
    startNextAttempt(context.ledger.pool, {
      ...{ run, owner, request, attempt: number, httpStatus, finishedAt },
      detail: describeOutcome(outcome),
      now: context.now(),
    }),
  );
  if (!owned) return false;
  trace('next attempt', run, request);
  // No request waits for the rate while it is `sending`; those to come wait the longer.
  await outageRetry.retry(() => limiter.spend({ admitted: 0, claimed: 1, recipients: destinations.count }));
  return true;
}

import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { startNextAttempt } from '../../ledger/requests/release.ts';
import type { Settlement } from '../../ledger/requests/settle.ts';
import { trace } from '../trace-points.ts';
import {
  type AttemptResult,
  attemptOnce,
  describeOutcome,
  type PreparedRequest,
  type Sender,
  settlementOf,
  stepAfter,
} from './attempt-once.ts';
import { type Attempt, outOfRetries } from './next-step.ts';

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

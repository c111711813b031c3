import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { ClaimedRequest } from '../../ledger/requests/claimed.ts';
import { startNextAttempt } from '../../ledger/requests/retry.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
import { pass } from '../points.ts';
import { type Attempt, describe } from './attempt.ts';
import { type Sender, type Sending, settlementOf, stepAfter, type Tried, tryOnce } from './try-once.ts';

/** Most are settled by their first attempt. @returns undefined when another owner has settled the request meanwhile */
export async function sendRequest(sender: Sender, sending: Sending): Promise<Settlement | undefined> {
  const first = await tryOnce(sender, sending, 1);
  if (first.step.kind === 'send again') return sendAgain(sender, sending, first);
  return settlementOf(sender, sending.claimed, first.attempt, first.step.as);
}

/**
 * p-retry repeats, `nextStep` says how often and after how long.
 *
 * @returns undefined when another owner has settled the request meanwhile
 */
export function sendAgain(sender: Sender, sending: Sending, first: Tried): Promise<Settlement | undefined> {
  const { claimed } = sending;
  let last = first;
  return pRetry(
    async (tries) => {
      if (tries > 1) {
        // While it waited, the run may have been stopped, or the service found to refuse everything.
        const step = stepAfter(sender, claimed, last.attempt, tries - 1);
        if (step.kind === 'settle') return settlementOf(sender, claimed, last.attempt, step.as);
        if (!(await writeNextAttempt(sender, claimed, last.attempt))) return undefined;
        last = await tryOnce(sender, sending, tries);
      }
      if (last.step.kind === 'send again') throw new SendAgain(last.step.after);
      return settlementOf(sender, claimed, last.attempt, last.step.as);
    },
    {
      retries: Number.POSITIVE_INFINITY,
      shouldRetry: ({ error }) => error instanceof SendAgain,
      // p-retry's own jitter only ever lengthens a wait; this one is awaited, and waits in its place. p-retry's signal would
      // drop an answer that comes after it.
      minTimeout: 0,
      onFailedAttempt: async ({ error }) => {
        if (error instanceof SendAgain) await wait(error.after, sender);
      },
    },
  );
}

class SendAgain extends Error {
  readonly after: number;

  constructor(after: number) {
    super(`to be sent again after ${after} ms`);
    this.after = after;
  }
}

/** @returns early when it is to stop, or the service is found to refuse everything */
async function wait(milliseconds: number, { stop, breaker }: Sender): Promise<void> {
  const signal = breaker ? AbortSignal.any([stop, breaker.opening()]) : stop;
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** @returns false when this owner no longer holds the request */
async function writeNextAttempt(
  { context, limiter, patience, run, owner }: Sender,
  { request, destinations }: ClaimedRequest,
  { number, httpStatus, outcome, finishedAt }: Attempt,
): Promise<boolean> {
  const owned = await patience.persist(() =>
    startNextAttempt(context.ledger.pool, {
      ...{ run, owner, request, attempt: number, httpStatus, finishedAt },
      detail: describe(outcome),
      now: context.now(),
    }),
  );
  if (!owned) return false;
  pass('next attempt', run, request);
  // No request waits for the rate while it is `sending`; those to come wait the longer.
  await patience.persist(() => limiter.spend({ admitted: 0, claimed: 1, recipients: destinations.count }));
  return true;
}

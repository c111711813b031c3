import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { retryAfterMilliseconds } from '../../gateway/retry-after.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim.ts';
import { startNextAttempt } from '../../ledger/requests/retry.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
import { pass } from '../points.ts';
import type { AccountBreaker } from './account-breaker.ts';
import { type Attempt, type Attempting, attempt, describe, type Outcome } from './attempt.ts';
import type { Patience } from './patience.ts';
import type { RateLimiter } from './rate-limit.ts';
import { longestRetryAfter, retryWait } from './retry-wait.ts';
import type { FileContents } from './run-files.ts';
import { type SettledBy, settlementOf } from './settlement-of.ts';

/** Everything that is the same for all requests of a slice. */
export type Sender = Attempting &
  SettledBy & {
    readonly patience: Patience;
    /** Each attempt counts. */
    readonly limiter: RateLimiter;
    /** Undefined for a run that does not wait while the service refuses everything. */
    readonly breaker: AccountBreaker | undefined;
    readonly retries: number;
    /** Whether the slice is still held; asked right before a request leaves. */
    readonly stillHeld: () => Promise<boolean>;
    /** Whether the window of the slice is open; asked right before a request leaves. */
    readonly mayLeave: () => boolean;
    /** Ends waits between attempts; a request that is on its way is not cut off by it. */
    readonly stop: AbortSignal;
  };

/**
 * Sends a claimed request until it is settled: again with the same MessageID where the service provably did not take
 * it, never otherwise.
 *
 * @param contents of the files the request refers to
 * @param probe whether it is the one that tries a service that refused everything
 * @returns undefined when another owner has settled the request meanwhile
 */
export async function sendRequest(
  sender: Sender,
  claimed: ClaimedRequest,
  contents: FileContents,
  probe: boolean,
): Promise<Settlement | undefined> {
  const { context, patience, stop, retries } = sender;
  // Kept outside p-retry, which drops an answer that comes after its signal was aborted.
  let last: Attempt | undefined;
  /** The attempt that is written in the ledger. */
  let written = claimed.attempt;
  let owned = true;
  /** Why the attempt that is written was not made. */
  let unsent: string | undefined;
  /** What went wrong in our own house, which p-retry drops too; then nobody can say that no byte has left. */
  let failure: { readonly error: unknown } | undefined;

  const tryOnce = async (): Promise<void> => {
    if (last) {
      owned = await writeNextAttempt(sender, claimed, last);
      if (!owned) return;
      written = last.number + 1;
      pass('next attempt', sender.run, claimed.request);
      // Nobody waits for the rate while `sending`; those to come wait the longer.
      const recipients = claimed.destinations.length;
      await patience.persist(() => sender.limiter.spend({ admitted: 0, claimed: 1, recipients }));
    }
    // What is answered while the ledger is away would be in doubt if this process had to end.
    await patience.back(stop);
    unsent = await whyNotToSend(sender, probe);
    if (unsent !== undefined) return;
    last = await attempt(sender, claimed, contents, written);
    await patience.persist(() => tellBreaker(sender, last?.outcome, probe));
  };

  const tryAndTell = async (): Promise<void> => {
    // One that waited for its next attempt while the service began to refuse everything is given back as it is.
    if (last && isBarred(sender)) return;
    try {
      await tryOnce();
    } catch (error) {
      failure = { error };
      throw error;
    }
    if (owned && unsent === undefined && last?.outcome.kind === 'retry' && !isBarred(sender)) {
      throw new RetryNeeded();
    }
  };

  let retriesSpent = false;
  try {
    await pRetry(tryAndTell, {
      retries,
      // p-retry's own jitter only ever lengthens a wait; `onFailedAttempt` is awaited and waits in its place.
      minTimeout: 0,
      signal: stop,
      onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
        if (error instanceof RetryNeeded && retriesLeft > 0)
          await waitAfter(attemptNumber, last?.outcome, sender);
      },
      shouldRetry: ({ error }) => error instanceof RetryNeeded,
    });
  } catch (error) {
    if (!(error instanceof RetryNeeded) && !stop.aborted) throw error;
    retriesSpent = !stop.aborted;
  }
  if (probe && last === undefined) await patience.persist(async () => sender.breaker?.notTried());
  if (failure) throw failure.error;
  if (!owned) return undefined;
  const end = { written, last, unsent: unsent ?? 'stopped before it was sent', retriesSpent };
  return settlementOf(sender, claimed, { ...end, now: context.now() });
}

class RetryNeeded extends Error {}

/** Whether the service refuses everything, so that only what tries it again may leave. */
function isBarred({ breaker }: Sender): boolean {
  return breaker?.isOpen() === true;
}

async function whyNotToSend(sender: Sender, probe: boolean): Promise<string | undefined> {
  if (!(await sender.patience.persist(sender.stillHeld))) {
    return "not sent, because its slice may be another worker's by now";
  }
  if (sender.stop.aborted) return 'stopped before it was sent';
  if (!sender.mayLeave()) return 'not sent, because its window had shut';
  if (!probe && isBarred(sender)) return 'not sent, because the service refuses everything';
  return undefined;
}

/** @returns false when this owner no longer holds the request */
async function writeNextAttempt(
  { context, patience, run, owner }: Sender,
  { request }: ClaimedRequest,
  { number, httpStatus, outcome, finishedAt }: Attempt,
): Promise<boolean> {
  return patience.persist(() =>
    startNextAttempt(context.ledger.pool, {
      ...{ run, owner, request, attempt: number, httpStatus, finishedAt },
      detail: describe(outcome) ?? '',
      now: context.now(),
    }),
  );
}

/** What an outcome says of the service, for all requests of the account. */
async function tellBreaker(
  { breaker, context }: Sender,
  outcome: Outcome | undefined,
  probe: boolean,
): Promise<void> {
  switch (outcome?.kind) {
    case 'accepted':
    case 'rejected':
    case 'unauthorized':
      return breaker?.answered(probe);
    case 'retry': {
      const asked = retryAfterMilliseconds(outcome.wait, context.now(), longestRetryAfter);
      return breaker?.refused({ reason: outcome.reason, asked, probe });
    }
    case 'in_doubt':
      // A service that does not answer is as good a reason to wait as one that refuses; by itself it opens nothing.
      if (probe) await breaker?.refused({ reason: outcome.reason, asked: undefined, probe });
      return;
    case 'unsendable':
      if (probe) await breaker?.notTried();
      return;
    case undefined:
      return;
  }
}

/** @returns early when it is to stop, or the service is found to refuse everything */
async function waitAfter(
  attempt: number,
  outcome: Outcome | undefined,
  { context: { now, random }, stop, breaker }: Sender,
): Promise<void> {
  const text = outcome?.kind === 'retry' ? outcome.wait : undefined;
  const asked = retryAfterMilliseconds(text, now(), longestRetryAfter);
  const signal = breaker ? AbortSignal.any([stop, breaker.opening()]) : stop;
  await sleep(retryWait(attempt, asked, random()), undefined, { signal }).catch(() => undefined);
}

import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { Channel, SendRequest } from '../../domain/message.ts';
import type { Evidence } from '../../gateway/evidence.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { retryAfterMilliseconds } from '../../gateway/retry-after.ts';
import type { Verdict } from '../../gateway/verdict.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim.ts';
import { startNextAttempt } from '../../ledger/requests/retry.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import type { Patience } from './patience.ts';
import type { RateLimiter } from './rate-limit.ts';
import { longestRetryAfter, retryWait } from './retry-wait.ts';
import { type FileContents, toSendRequest } from './run-files.ts';

/** Everything that is the same for all requests of a slice. */
export type Sender = {
  readonly context: EngineContext;
  readonly patience: Patience;
  readonly gateway: Gateway;
  /** Each attempt counts. */
  readonly limiter: RateLimiter;
  readonly run: string;
  readonly slice: number;
  readonly owner: string;
  readonly channel: Channel;
  readonly retries: number;
  /** Whether a rejected request of several recipients is divided. */
  readonly bisect: boolean;
  /** Whether the slice is still held; asked right before a request leaves. */
  readonly stillHeld: () => Promise<boolean>;
  /** Whether the window of the slice is open; asked right before a request leaves. */
  readonly mayLeave: () => boolean;
  /** Ends waits between attempts; a request that is on its way is not cut off by it. */
  readonly stop: AbortSignal;
  /** Gives up on answers that have not come: the process has to end. */
  readonly cutOff: AbortSignal;
};

/** A verdict, or that the interface cannot express the request, so that no byte of it left. */
type Outcome = Verdict | { readonly kind: 'unsendable'; readonly reason: string };

type Attempt = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly httpStatus: number | null;
  readonly finishedAt: Date;
};

/**
 * Sends a claimed request until it is settled: again with the same MessageID where the service provably did not take
 * it, never otherwise.
 *
 * @param contents of the files the request refers to
 * @returns undefined when another owner has settled the request meanwhile
 */
export async function sendRequest(
  sender: Sender,
  claimed: ClaimedRequest,
  contents: FileContents,
): Promise<Settlement | undefined> {
  const { context, patience, stop, retries } = sender;
  // Kept outside p-retry, which drops an answer that comes after its signal was aborted.
  let last: Attempt | undefined;
  /** The attempt that is written in the ledger. */
  let written = claimed.attempt;
  let owned = true;
  let held = true;
  let shut = false;
  /** What went wrong in our own house, which p-retry drops too; then nobody can say that no byte has left. */
  let failure: { readonly error: unknown } | undefined;

  const tryOnce = async (): Promise<void> => {
    if (last) {
      const { number, httpStatus, outcome, finishedAt } = last;
      owned = await patience.persist(() =>
        startNextAttempt(context.ledger.pool, {
          run: sender.run,
          owner: sender.owner,
          request: claimed.request,
          attempt: number,
          httpStatus,
          detail: describe(outcome) ?? '',
          finishedAt,
          now: context.now(),
        }),
      );
      if (!owned) return;
      written = number + 1;
      pass('next attempt', sender.run, claimed.request);
      // Nobody waits for the rate while `sending`; those to come wait the longer.
      const recipients = claimed.destinations.length;
      await patience.persist(() => sender.limiter.spend({ admitted: 0, claimed: 1, recipients }));
    }
    // What is answered while the ledger is away would be in doubt if this process had to end.
    await patience.back(stop);
    held = await patience.persist(sender.stillHeld);
    if (!held || stop.aborted) return;
    shut = !sender.mayLeave();
    if (shut) return;
    last = await attempt(sender, claimed, contents, written);
  };

  const tryAndTell = async (): Promise<void> => {
    try {
      await tryOnce();
    } catch (error) {
      failure = { error };
      throw error;
    }
    if (owned && held && !shut && last?.outcome.kind === 'retry') throw new RetryNeeded();
  };

  try {
    await pRetry(tryAndTell, {
      retries,
      // p-retry's own jitter only ever lengthens a wait; `onFailedAttempt` is awaited and waits in its place.
      minTimeout: 0,
      signal: stop,
      onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
        if (error instanceof RetryNeeded && retriesLeft > 0)
          await waitAfter(attemptNumber, last?.outcome, context, stop);
      },
      shouldRetry: ({ error }) => error instanceof RetryNeeded,
    });
  } catch (error) {
    if (!(error instanceof RetryNeeded) && !stop.aborted) throw error;
  }
  if (failure) throw failure.error;
  if (!owned) return undefined;
  if (!held) {
    const { run, slice, owner } = sender;
    const detail = "not sent, because its slice may be another worker's by now";
    return { run, slice, owner, request: claimed.request, ...released(written, detail, context.now()) };
  }
  if (shut) {
    const { run, slice, owner } = sender;
    const detail = 'not sent, because its window had shut';
    return { run, slice, owner, request: claimed.request, ...released(written, detail, context.now()) };
  }
  return settlementOf(sender, claimed, written, last, context.now());
}

class RetryNeeded extends Error {}

async function attempt(
  { gateway, context, run, channel, cutOff }: Sender,
  claimed: ClaimedRequest,
  contents: FileContents,
  number: number,
): Promise<Attempt> {
  pass('sending', run, claimed.request);
  const exchange = startExchange(gateway, () => toSendRequest(channel, claimed, contents), cutOff);
  if (exchange.kind === 'unsendable') {
    return { number, outcome: exchange, httpStatus: null, finishedAt: context.now() };
  }
  const evidence = await exchange.evidence;
  pass('answered', run, claimed.request);
  return {
    number,
    outcome: gateway.judge(evidence, claimed.messageId),
    httpStatus: evidence.kind === 'not_sent' ? null : (evidence.status ?? null),
    finishedAt: context.now(),
  };
}

type Exchange =
  | { readonly kind: 'started'; readonly evidence: Promise<Evidence> }
  | { readonly kind: 'unsendable'; readonly reason: string };

/** Both throw before any byte leaves: for a file that is missing, and a request that the interface cannot express. */
function startExchange(gateway: Gateway, make: () => SendRequest, cutOff: AbortSignal): Exchange {
  try {
    return { kind: 'started', evidence: gateway.send(make(), cutOff) };
  } catch (error) {
    return { kind: 'unsendable', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** @returns early when `stop` is aborted */
async function waitAfter(
  attempt: number,
  outcome: Outcome | undefined,
  { now, random }: EngineContext,
  stop: AbortSignal,
): Promise<void> {
  const text = outcome?.kind === 'retry' ? outcome.wait : undefined;
  const asked = retryAfterMilliseconds(text, now(), longestRetryAfter);
  await sleep(retryWait(attempt, asked, random()), undefined, { signal: stop }).catch(() => undefined);
}

/**
 * What the request becomes after its last attempt.
 *
 * @param written the last attempt that is written in the ledger; it may not have been made
 */
function settlementOf(
  { run, slice, owner, bisect, stop }: Sender,
  claimed: ClaimedRequest,
  written: number,
  last: Attempt | undefined,
  now: Date,
): Settlement {
  const { request } = claimed;
  const held = { run, slice, owner, request };
  // Of an attempt that was not made, no byte has left.
  if (last?.number !== written) return { ...held, ...released(written, 'stopped before it was sent', now) };
  const { outcome, number, httpStatus, finishedAt } = last;
  const settlement = { ...held, attempt: number, finishedAt, httpStatus, detail: describe(outcome) };
  switch (outcome.kind) {
    case 'accepted':
      return { ...settlement, state: 'accepted', ...(outcome.job === undefined ? {} : { job: outcome.job }) };
    case 'in_doubt':
      return { ...settlement, state: 'in_doubt' };
    case 'rejected':
      return { ...settlement, state: 'rejected', divide: bisect && claimed.destinations.length > 1 };
    case 'unauthorized':
      return { ...settlement, state: 'planned', verdict: 'unauthorized' };
    case 'unsendable':
      return { ...settlement, state: 'failed' };
    case 'retry':
      return stop.aborted
        ? { ...settlement, state: 'planned', verdict: 'released' }
        : { ...settlement, state: 'failed' };
  }
}

/** Back to `planned`, with no byte of the attempt sent. */
export function released(attempt: number, detail: string, finishedAt: Date) {
  return { attempt, finishedAt, httpStatus: null, detail, state: 'planned', verdict: 'released' } as const;
}

/** What is kept of an outcome: the service's own words, or what went wrong. */
function describe(outcome: Outcome): string | null {
  switch (outcome.kind) {
    case 'accepted':
      return outcome.job === undefined ? null : `job ${outcome.job}`;
    case 'rejected':
    case 'unauthorized':
      return outcome.words.join('; ');
    case 'unsendable':
    case 'retry':
    case 'in_doubt':
      return outcome.reason;
  }
}

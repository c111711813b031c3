import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { Channel, SendRequest } from '../domain.ts';
import type { Evidence } from '../gateway/evidence.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { retryAfterMilliseconds } from '../gateway/retry-after.ts';
import type { Verdict } from '../gateway/verdict.ts';
import type { ClaimedRequest } from '../ledger/requests/claim.ts';
import { startNextAttempt } from '../ledger/requests/retry.ts';
import type { Settlement } from '../ledger/requests/settle.ts';
import type { EngineContext } from './context.ts';
import { longestRetryAfter, retryWait } from './retry-wait.ts';
import { type FileContents, toSendRequest } from './run-files.ts';

/** Everything that is the same for all requests of a run. */
export type Sender = {
  readonly context: EngineContext;
  readonly gateway: Gateway;
  readonly run: string;
  readonly owner: string;
  readonly channel: Channel;
  readonly retries: number;
  /** Ends waits between attempts; a request that is on its way is never cut off. */
  readonly stop: AbortSignal;
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
  const { context, stop, retries } = sender;
  // Kept outside p-retry, which drops an answer that comes after its signal was aborted.
  let last: Attempt | undefined;
  let held = true;

  const tryOnce = async (): Promise<void> => {
    if (last) {
      held = await startNextAttempt(context.ledger.pool, {
        run: sender.run,
        owner: sender.owner,
        request: claimed.request,
        attempt: last.number,
        httpStatus: last.httpStatus,
        detail: describe(last.outcome) ?? '',
        finishedAt: last.finishedAt,
        now: context.now(),
      });
      if (!held) return;
    }
    last = await attempt(sender, claimed, contents, last ? last.number + 1 : claimed.attempt);
    if (last.outcome.kind === 'retry') throw new RetryNeeded();
  };

  try {
    await pRetry(tryOnce, {
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
    const expected = error instanceof RetryNeeded || stop.aborted;
    if (!expected) throw error;
  }
  if (!held) return undefined;
  return settlementOf(claimed, last, stop.aborted, context.now());
}

class RetryNeeded extends Error {}

async function attempt(
  { gateway, context, channel }: Sender,
  claimed: ClaimedRequest,
  contents: FileContents,
  number: number,
): Promise<Attempt> {
  const exchange = startExchange(gateway, () => toSendRequest(channel, claimed, contents));
  if (exchange.kind === 'unsendable') {
    return { number, outcome: exchange, httpStatus: null, finishedAt: context.now() };
  }
  const evidence = await exchange.evidence;
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
function startExchange(gateway: Gateway, make: () => SendRequest): Exchange {
  try {
    return { kind: 'started', evidence: gateway.send(make()) };
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

/** What the request becomes after its last attempt. */
function settlementOf(
  claimed: ClaimedRequest,
  last: Attempt | undefined,
  stopped: boolean,
  now: Date,
): Settlement {
  const { request } = claimed;
  if (!last) {
    // Stopped before its first attempt: no byte has left.
    const detail = 'stopped before it was sent';
    return {
      request,
      attempt: claimed.attempt,
      finishedAt: now,
      httpStatus: null,
      detail,
      state: 'planned',
      verdict: 'released',
    };
  }
  const { outcome, number, httpStatus, finishedAt } = last;
  const settlement = { request, attempt: number, finishedAt, httpStatus, detail: describe(outcome) };
  switch (outcome.kind) {
    case 'accepted':
    case 'rejected':
    case 'in_doubt':
      return { ...settlement, state: outcome.kind };
    case 'unauthorized':
      return { ...settlement, state: 'planned', verdict: 'unauthorized' };
    case 'unsendable':
      return { ...settlement, state: 'failed' };
    case 'retry':
      return stopped
        ? { ...settlement, state: 'planned', verdict: 'released' }
        : { ...settlement, state: 'failed' };
  }
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

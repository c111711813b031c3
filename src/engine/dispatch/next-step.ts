import type { WithheldCause } from '../../domain/reasons.ts';
import type { Verdict } from '../../gateway/verdict.ts';
import type { SettledState } from '../../ledger/requests/settle.ts';

/** What an attempt proved, or why nothing was sent. */
export type Outcome =
  | Verdict
  /** Nothing was sent: the interface cannot express it, or a file is missing. */
  | { readonly kind: 'unsendable'; readonly reason: string }
  | { readonly kind: 'withheld'; readonly because: WithheldCause };

export type Attempt = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly httpStatus: number | null;
  readonly startedAt: Date;
  readonly finishedAt: Date;
};

export type Step =
  /** After so many milliseconds. */
  { readonly kind: 'retry'; readonly after: number } | { readonly kind: 'settle'; readonly as: SettledState };

export const released: SettledState = { state: 'planned', verdict: 'released' };

/** The state of a request whose step is still `retry` after its last attempt. */
export const outOfRetries: SettledState = { state: 'failed' };

export type StepContext = {
  /** Since the claim, from 1. */
  readonly attempts: number;
  /** The run is paused or preempted, or the worker ends. */
  readonly stopping: boolean;
  readonly breakerOpen: boolean;
  readonly recipients: number;
  readonly bisect: boolean;
  /** From 0 up to, but not including, 1. */
  readonly random: number;
};

/**
 * Decides whether a request may be sent again, and what it becomes if not. Only a request that the service provably did
 * not accept is sent again, with the same MessageID and bytes. p-retry holds how often (`request-source.ts`).
 *
 * When the worker stops or the breaker is open, the request is returned even after its last retry. Its next claim
 * grants all retries again.
 */
export function nextStep(
  { outcome, finishedAt }: Pick<Attempt, 'outcome' | 'finishedAt'>,
  { attempts, stopping, breakerOpen, recipients, bisect, random }: StepContext,
): Step {
  switch (outcome.kind) {
    case 'accepted':
      return settle({
        state: 'accepted',
        ...(outcome.jobNumber === undefined ? {} : { jobNumber: outcome.jobNumber }),
      });
    case 'rejected':
      return settle({ state: 'rejected', divide: bisect && recipients > 1 });
    case 'in_doubt':
      return settle({ state: 'in_doubt' });
    case 'unauthorized':
      return settle({ state: 'planned', verdict: 'unauthorized' });
    case 'withheld':
      return settle(released);
    case 'unsendable':
      return settle({ state: 'failed' });
    case 'retry': {
      if (stopping || breakerOpen) return settle(released);
      const requestedWait = retryAfterMilliseconds(outcome.retryAfter, finishedAt);
      return { kind: 'retry', after: retryWait(attempts, requestedWait, random) };
    }
  }
}

function settle(as: SettledState): Step {
  return { kind: 'settle', as };
}

/** @returns undefined if the request can leave */
export function withholdingReason({
  stopping,
  held,
  windowOpen,
  breakerOpen,
}: {
  readonly stopping: boolean;
  readonly held: boolean;
  readonly windowOpen: boolean;
  /** False for the probe of an open breaker. */
  readonly breakerOpen: boolean;
}): WithheldCause | undefined {
  if (stopping) return 'stopping';
  if (!held) return 'not_held';
  if (!windowOpen) return 'window_shut';
  if (breakerOpen) return 'service_refuses';
  return undefined;
}

/** The longest granted wait, in milliseconds. */
export const maxRetryAfter = 60_000;

/** `Wed, 21 Oct 2026 07:28:00 GMT`: the only date form that a sender may generate (RFC 9110, 5.6.7). */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * @param text seconds or an HTTP date
 * @returns milliseconds from 0 to `maxRetryAfter`; undefined for any other text
 */
export function retryAfterMilliseconds(text: string | undefined, now: Date): number | undefined {
  const wanted = parseMilliseconds(text?.trim() ?? '', now);
  return wanted === undefined ? undefined : Math.min(Math.max(wanted, 0), maxRetryAfter);
}

function parseMilliseconds(text: string, now: Date): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!httpDate.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date - now.getTime();
}

/** Limit of the first wait (milliseconds); doubled by every attempt. */
const firstCap = 500;
const maxCap = 10_000;

export const maxRetryWait = maxRetryAfter + maxCap;

/**
 * Exponential backoff with full jitter, added to what the service asks for, because it asks every client for the
 * same.
 *
 * @param attempt the one that failed, from 1
 * @param requestedWait milliseconds
 * @param random from 0 up to, but not including, 1
 * @returns whole milliseconds
 */
export function retryWait(attempt: number, requestedWait: number | undefined, random: number): number {
  const cap = Math.min(firstCap * 2 ** (attempt - 1), maxCap);
  return (requestedWait ?? 0) + Math.floor(random * cap);
}

import type { Breaker } from '../../domain/breaker.ts';
import { longestRetryWait, retryWait } from './retry-wait.ts';

/**
 * The circuit breaker of an account, as pure decisions. Undefined stands for a closed one: requests go out. An open one
 * lets one request try the service whenever its time has come (half-open), whichever worker has it.
 */

/** So many refusals in a row, with no other answer in between, are one trouble of the service and not of the requests. */
export const refusalsToOpen = 5;

export type Refused = {
  readonly reason: string;
  /** Milliseconds that the service asks to be left alone for. */
  readonly asked: number | undefined;
  /** Whether it was the request that tried again. */
  readonly probe: boolean;
  readonly random: number;
};

/** After refusals enough, or the refusal of the request that tried again. */
export function opened(breaker: Breaker | undefined, refused: Refused, now: number): Breaker {
  // Another worker found the same and opened it first.
  if (breaker && !refused.probe) return breaker;
  const tries = (breaker?.tries ?? 0) + 1;
  return {
    openedAt: Math.min(breaker?.openedAt ?? now, now),
    retryAt: now + retryWait(tries, refused.asked, refused.random),
    tries,
    reason: refused.reason,
    probeUntil: null,
  };
}

/**
 * Milliseconds until one request may try again; 0: now. A time that is further ahead than any wait is of a clock that was
 * set back since, which nobody waits for to catch up.
 */
export function untilProbe({ retryAt, probeUntil }: Breaker, now: number, lease: number): number {
  const waits = leftOf(retryAt, now, longestRetryWait);
  const probed = probeUntil === null ? 0 : leftOf(probeUntil, now, lease);
  return Math.max(0, waits, probed);
}

function leftOf(until: number, now: number, longest: number): number {
  return until - now > longest ? 0 : until - now;
}

/**
 * Lets a worker try again with one request.
 *
 * @param lease how long its answer is waited for (milliseconds)
 * @returns the breaker unchanged where it is not time, or another worker does
 */
export function withProbe(breaker: Breaker, now: number, lease: number): Breaker {
  return untilProbe(breaker, now, lease) > 0 ? breaker : { ...breaker, probeUntil: now + lease };
}

/**
 * Gives the worker that tries again the whole time for its answer, now that it is about to claim: it may have waited long for the
 * account's rate.
 *
 * @param until as it was given before
 * @returns undefined where it took so long that another worker may try
 */
export function withLongerProbe(
  breaker: Breaker,
  until: number,
  now: number,
  lease: number,
): Breaker | undefined {
  return isProbeOf(breaker, until) ? { ...breaker, probeUntil: now + lease } : undefined;
}

/** The worker that was to try again has nothing to send; another one that tries by now is left to it. */
export function withoutProbe(breaker: Breaker, until: number): Breaker {
  return isProbeOf(breaker, until) ? { ...breaker, probeUntil: null } : breaker;
}

/** Postgres keeps microseconds. */
function isProbeOf({ probeUntil }: Breaker, until: number): boolean {
  return probeUntil !== null && Math.abs(probeUntil - until) < 1;
}

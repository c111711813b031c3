import type { Breaker } from '../../domain/breaker.ts';
import { maxRetryWait, retryWait } from './retry-wait.ts';

/**
 * The circuit breaker of an account, as pure decisions. Undefined stands for a closed one: requests go out. An open one
 * lets one request try the service whenever its time has come (half-open), whichever worker has it.
 */

/** So many refusals in a row, with no other answer in between, are one trouble of the service and not of the requests. */
export const refusalsToOpen = 5;

export type Refusal = {
  readonly reason: string;
  /** Milliseconds that the service asks to be left alone for. */
  readonly requestedWait: number | undefined;
  /** Of the request that tried again. */
  readonly probeId: string | undefined;
  readonly random: number;
};

/**
 * After refusals enough, or the refusal of the request that tried again. It stays as it is where another worker opened it first,
 * and where another request tries by now, or the service was found to answer.
 */
export function openBreaker(
  breaker: Breaker | undefined,
  refusal: Refusal,
  now: number,
): Breaker | undefined {
  if (refusal.probeId === undefined ? breaker : !isProbeOf(breaker, refusal.probeId)) return breaker;
  const refusals = (breaker?.refusals ?? 0) + 1;
  return {
    openedAt: Math.min(breaker?.openedAt ?? now, now),
    retryAt: now + retryWait(refusals, refusal.requestedWait, refusal.random),
    refusals,
    reason: refusal.reason,
    probe: null,
  };
}

/**
 * Milliseconds until one request may try again; 0: now. A time that is further ahead than any wait is of a clock that was
 * set back since, which nobody waits for to catch up.
 */
export function millisecondsUntilProbe({ retryAt, probe }: Breaker, now: number, lease: number): number {
  const untilRetry = remaining(retryAt, now, maxRetryWait);
  const untilLeaseEnds = probe === null ? 0 : remaining(probe.expiresAt, now, lease);
  return Math.max(0, untilRetry, untilLeaseEnds);
}

function remaining(until: number, now: number, max: number): number {
  return until - now > max ? 0 : until - now;
}

/**
 * Lets a worker try again with one request.
 *
 * @param id of the right to try
 * @param lease how long its answer is waited for (milliseconds)
 * @returns the breaker unchanged where it is not time, or another one tries
 */
export function grantProbe(breaker: Breaker, id: string, now: number, lease: number): Breaker {
  return millisecondsUntilProbe(breaker, now, lease) > 0
    ? breaker
    : { ...breaker, probe: { id, expiresAt: now + lease } };
}

/**
 * Gives the request that tries again the whole time for its answer, now that it is about to be claimed: it may have waited long
 * for the account's rate. Another one that tries by now is left to it.
 */
export function extendProbe(breaker: Breaker, id: string, now: number, lease: number): Breaker {
  return isProbeOf(breaker, id) ? { ...breaker, probe: { id, expiresAt: now + lease } } : breaker;
}

/** The worker that was to try again has nothing to send; another one that tries by now is left to it. */
export function releaseProbe(breaker: Breaker, id: string): Breaker {
  return isProbeOf(breaker, id) ? { ...breaker, probe: null } : breaker;
}

/** The service has answered the request that tried again. */
export function closeBreaker(breaker: Breaker | undefined, id: string): Breaker | undefined {
  return isProbeOf(breaker, id) ? undefined : breaker;
}

export function isProbeOf(breaker: Breaker | undefined, id: string): boolean {
  return breaker?.probe?.id === id;
}

import type { Breaker } from '../../domain/breaker.ts';
import { maxRetryWait, retryWait } from './retry-wait.ts';

/**
 * The circuit breaker as pure functions. Undefined is closed. An open breaker lets one worker send one probe from
 * `retryAt` on (half-open).
 */

/** Refusals in a row that show a failing service, not a faulty request. */
export const refusalsToOpen = 5;

export type Refusal = {
  readonly reason: string;
  /** Milliseconds. */
  readonly requestedWait: number | undefined;
  /** Undefined if the request was no probe. */
  readonly probeId: string | undefined;
  readonly random: number;
};

/**
 * Opens the breaker after enough refusals, or a refused probe. An open breaker and an expired probe change nothing.
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

/** Milliseconds until a probe can be sent. A time further ahead than any wait is ignored: the clock was set back. */
export function millisecondsUntilProbe({ retryAt, probe }: Breaker, now: number, lease: number): number {
  const untilRetry = remaining(retryAt, now, maxRetryWait);
  const untilLeaseEnds = probe === null ? 0 : remaining(probe.expiresAt, now, lease);
  return Math.max(0, untilRetry, untilLeaseEnds);
}

function remaining(until: number, now: number, max: number): number {
  return until - now > max ? 0 : until - now;
}

/**
 * @param lease how long the answer can take (milliseconds)
 * @returns the same breaker if it is too early, or another probe has the right
 */
export function grantProbe(breaker: Breaker, id: string, now: number, lease: number): Breaker {
  return millisecondsUntilProbe(breaker, now, lease) > 0
    ? breaker
    : { ...breaker, probe: { id, expiresAt: now + lease } };
}

/** Renews the lease right before the claim, because the probe may have waited long for the account's rate. */
export function extendProbe(breaker: Breaker, id: string, now: number, lease: number): Breaker {
  return isProbeOf(breaker, id) ? { ...breaker, probe: { id, expiresAt: now + lease } } : breaker;
}

/** Releases the right, because the worker has nothing to send. */
export function releaseProbe(breaker: Breaker, id: string): Breaker {
  return isProbeOf(breaker, id) ? { ...breaker, probe: null } : breaker;
}

export function closeBreaker(breaker: Breaker | undefined, id: string): Breaker | undefined {
  return isProbeOf(breaker, id) ? undefined : breaker;
}

export function isProbeOf(breaker: Breaker | undefined, id: string): boolean {
  return breaker?.probe?.id === id;
}

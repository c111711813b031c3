import type { WithheldCause } from '../../domain/reasons.ts';
import { retryAfterMilliseconds } from '../../gateway/retry-after.ts';
import type { SettledState } from '../../ledger/requests/settlement.ts';
import type { Attempt } from './attempt.ts';
import { retryWait } from './retry-wait.ts';

export type Step =
  /** With the same MessageID and bytes, after so many milliseconds. */
  | { readonly kind: 'send again'; readonly after: number }
  | { readonly kind: 'settle'; readonly as: SettledState };

/** Returned, for any worker to claim. */
export const released: SettledState = { state: 'planned', verdict: 'released' };

export type StepContext = {
  /** Attempts since the claim; 1 after the first. */
  readonly attempts: number;
  readonly retries: number;
  /** Whether the worker returns the slice: its run is paused or preempted, or the worker ends. */
  readonly stopping: boolean;
  readonly breakerOpen: boolean;
  readonly recipients: number;
  readonly bisect: boolean;
  /** From 0 up to, but not including, 1. */
  readonly random: number;
};

/**
 * Decides whether a request is sent again, and what it becomes if not. Only a request that the service provably did
 * not accept is sent again.
 *
 * When the worker stops or the breaker is open, the request is returned even if its retries are spent. It has all its
 * retries at its next claim.
 */
export function nextStep(
  { outcome, finishedAt }: Pick<Attempt, 'outcome' | 'finishedAt'>,
  { attempts, retries, stopping, breakerOpen, recipients, bisect, random }: StepContext,
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
      if (attempts > retries) return settle({ state: 'failed' });
      const requestedWait = retryAfterMilliseconds(outcome.retryAfter, finishedAt);
      return { kind: 'send again', after: retryWait(attempts, requestedWait, random) };
    }
  }
}

function settle(as: SettledState): Step {
  return { kind: 'settle', as };
}

/** @returns why the request must not leave; undefined if it may */
export function withholdingReason({
  stopping,
  held,
  windowOpen,
  breakerOpen,
}: {
  readonly stopping: boolean;
  readonly held: boolean;
  readonly windowOpen: boolean;
  /** Whether the circuit breaker is open and this request is not its probe. */
  readonly breakerOpen: boolean;
}): WithheldCause | undefined {
  if (stopping) return 'stopping';
  if (!held) return 'not_held';
  if (!windowOpen) return 'window_shut';
  if (breakerOpen) return 'service_refuses';
  return undefined;
}

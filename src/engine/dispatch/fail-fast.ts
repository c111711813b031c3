import type { FailFastReason } from '../../domain/reasons.ts';
import type { FailFast } from './dispatch-settings.ts';

/** Requests of a run since it was last resumed. */
export type Answered = { readonly settled: number; readonly rejected: number };

/**
 * Whether a run is to be paused because the service rejects it.
 *
 * @param total how many there are to be answered
 * @returns why; undefined where there is no reason to
 */
export function reasonToStop(
  { first, share }: FailFast,
  { settled, rejected }: Answered,
  total: number,
): FailFastReason | undefined {
  if (settled < Math.min(first, total) || rejected === 0) return undefined;
  if (rejected === settled) return { kind: 'all_rejected', requests: settled };
  if (share === undefined || rejected <= share * settled) return undefined;
  return { kind: 'too_many_rejected', rejected, requests: settled, share };
}

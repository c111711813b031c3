import { percentText } from '../../platform/scalars.ts';
import type { FailFast } from './dispatch-settings.ts';

/** Requests of a run since it was last resumed. */
export type Answered = { readonly settled: number; readonly rejected: number };

/**
 * Whether a run is to be paused because the service rejects it.
 *
 * @param total how many there are to be answered
 * @returns why, in words; undefined where there is no reason to
 */
export function reasonToStop(
  { first, share }: FailFast,
  { settled, rejected }: Answered,
  total: number,
): string | undefined {
  if (settled < Math.min(first, total) || rejected === 0) return undefined;
  if (rejected === settled) return `the service rejected all of the first ${settled} requests (failFast)`;
  if (share === undefined || rejected <= share * settled) return undefined;
  return `the service rejected ${rejected} of ${settled} requests, more than ${percentText(share)} (failFast)`;
}

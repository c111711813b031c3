import type { FailFastReason } from '../../domain/reasons.ts';
import type { FailFast } from './dispatch-settings.ts';

type Answered = { readonly settled: number; readonly rejected: number };

/**
 * @param total requests that will be answered
 * @returns undefined if the run goes on
 */
export function reasonToStop(
  { first, share }: FailFast,
  { settled, rejected }: Answered,
  total: number,
): Exclude<FailFastReason, { kind: 'foreign_answers' }> | undefined {
  if (settled < Math.min(first, total) || rejected === 0) return undefined;
  if (rejected === settled) return { kind: 'all_rejected', requests: settled };
  if (share === undefined || rejected <= share * settled) return undefined;
  return { kind: 'too_many_rejected', rejected, requests: settled, share };
}

import type { RateLimits } from '../../domain/rates.ts';
import type { HoldReason, RunReason } from '../../domain/reasons.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';

/** What a run waits for. */
export type RunWait =
  | { readonly kind: 'approval'; readonly reason: RunReason | null }
  | { readonly kind: 'start' }
  | { readonly kind: 'resume'; readonly reason: RunReason | null }
  | { readonly kind: 'ledger on hold'; readonly reason: HoldReason }
  | { readonly kind: 'service'; readonly since: Date; readonly retryAt: Date; readonly words: string }
  | { readonly kind: 'window'; readonly opensAt: Date }
  | { readonly kind: 'urgent run'; readonly run: string | null }
  | { readonly kind: 'worker' }
  | { readonly kind: 'rate'; readonly limits: RateLimits }
  | { readonly kind: 'doubts'; readonly requests: number };

export type WaitFacts = {
  readonly progress: DispatchProgress;
  readonly held: HoldReason | null;
  readonly preemptedBy: string | null;
  /** Of the account, in force. */
  readonly limits: RateLimits | undefined;
  /** Requests and recipients per second now. */
  readonly rate: { readonly requests: number; readonly recipients: number } | undefined;
};

/** The most important first. */
export function waitsOf(facts: WaitFacts): RunWait[] {
  const { progress, held } = facts;
  const { state, stateReason, counts } = progress;
  const inDoubt = counts.requests.in_doubt;
  const waits: RunWait[] = [];
  if (held && (state === 'planned' || state === 'running'))
    waits.push({ kind: 'ledger on hold', reason: held });
  if (state === 'planned') {
    const needsApproval =
      stateReason !== null && typeof stateReason === 'object' && stateReason.kind === 'waits_for_approval';
    waits.push(needsApproval ? { kind: 'approval', reason: stateReason } : { kind: 'start' });
  }
  if (state === 'paused') waits.push({ kind: 'resume', reason: stateReason });
  if (state === 'running') waits.push(...runningWaits(facts));
  if (inDoubt > 0) waits.push({ kind: 'doubts', requests: inDoubt });
  return waits;
}

function runningWaits({ progress, preemptedBy, limits, rate }: WaitFacts): RunWait[] {
  const { refusal, opensAt, preempted, held, settled, total } = progress;
  if (refusal) {
    return [{ kind: 'service', since: refusal.since, retryAt: refusal.retryAt, words: refusal.reason }];
  }
  if (opensAt) return [{ kind: 'window', opensAt }];
  if (preempted) return [{ kind: 'urgent run', run: preemptedBy }];
  if (settled >= total) return [];
  if (held === 0 && rate?.requests === 0) return [{ kind: 'worker' }];
  return limits && rate && isAtLimit(limits, rate) ? [{ kind: 'rate', limits }] : [];
}

/** Of a limit's permits, dispatch uses nearly all. */
const nearlyAll = 0.9;

function isAtLimit(limits: RateLimits, rate: NonNullable<WaitFacts['rate']>): boolean {
  const uses = (limit: number | null, used: number): boolean => limit !== null && used >= limit * nearlyAll;
  return uses(limits.requestsPerSecond, rate.requests) || uses(limits.recipientsPerSecond, rate.recipients);
}

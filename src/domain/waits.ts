import type { RateLimits } from './rates.ts';
import type { HoldReason, RunReason } from './reasons.ts';

/** What a run waits for. */
export type RunWait =
  | { readonly kind: 'approval'; readonly reason: RunReason | null }
  | { readonly kind: 'start' }
  | { readonly kind: 'resume'; readonly reason: RunReason | null }
  | { readonly kind: 'ledger on hold'; readonly reason: HoldReason }
  | { readonly kind: 'service'; readonly since: Date; readonly retryAt: Date; readonly words: string }
  | { readonly kind: 'window'; readonly opensAt: Date }
  | { readonly kind: 'urgent run'; readonly run: string }
  | { readonly kind: 'worker' }
  | { readonly kind: 'rate'; readonly limits: RateLimits }
  | { readonly kind: 'doubts'; readonly requests: number };

export const waitKinds = [
  'approval',
  'start',
  'resume',
  'ledger on hold',
  'service',
  'window',
  'urgent run',
  'worker',
  'rate',
  'doubts',
] as const satisfies readonly RunWait['kind'][];

/** Whether a person must act, not Volley. */
export function needsPerson({ kind }: RunWait): boolean {
  return kind === 'approval' || kind === 'resume' || kind === 'doubts' || kind === 'ledger on hold';
}

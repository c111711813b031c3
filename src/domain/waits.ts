import type { HoldReason } from './hold-reasons.ts';
import type { RateLimits } from './rate-limits.ts';
import type { RunReason } from './reasons.ts';

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

type WaitKind = {
  /** Whether a person must act, not Volley. */
  readonly needsPerson: boolean;
  /** Whether a worker that could send the run waits with it. */
  readonly stopsWorker: boolean;
};

export const waitKinds = {
  approval: { needsPerson: true, stopsWorker: false },
  start: { needsPerson: false, stopsWorker: false },
  resume: { needsPerson: true, stopsWorker: false },
  'ledger on hold': { needsPerson: true, stopsWorker: false },
  service: { needsPerson: false, stopsWorker: true },
  window: { needsPerson: false, stopsWorker: true },
  'urgent run': { needsPerson: false, stopsWorker: true },
  worker: { needsPerson: false, stopsWorker: false },
  rate: { needsPerson: false, stopsWorker: false },
  doubts: { needsPerson: true, stopsWorker: false },
} as const satisfies Readonly<Record<RunWait['kind'], WaitKind>>;

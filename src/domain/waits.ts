import type { HoldReason } from './hold-reasons.ts';
import type { RateLimits } from './rate-limits.ts';
import { isInterruption, type RunReason } from './reasons.ts';
import type { RunState } from './runs.ts';
import { isStoppedByCanary } from './watch-reasons.ts';

/** Stands for words that named an erased person. */
export const erasedWords = 'Its words are erased.';

/** What a run waits for. */
export type RunWait =
  | { readonly kind: 'approval'; readonly reason: RunReason | null }
  | { readonly kind: 'start' }
  | { readonly kind: 'resume'; readonly reason: RunReason | null }
  /** The canary is not within its limits, or a person decides in any case. */
  | { readonly kind: 'promotion'; readonly reason: RunReason }
  | CanaryWait
  | WinnerWait
  | { readonly kind: 'ledger on hold'; readonly reason: HoldReason }
  | { readonly kind: 'service'; readonly since: Date; readonly retryAt: Date; readonly words: string }
  | { readonly kind: 'window'; readonly opensAt: Date }
  | { readonly kind: 'urgent run'; readonly run: string }
  | { readonly kind: 'worker' }
  | { readonly kind: 'rate'; readonly limits: RateLimits }
  | { readonly kind: 'doubts'; readonly requests: number };

/** The rest of the run waits for delivery reports of its canary, or for the time in which they are waited for. */
export type CanaryWait = {
  readonly kind: 'canary';
  readonly since: Date;
  readonly until: Date;
  readonly reported: number;
  readonly recipients: number;
  /** Whether a person promotes the run in any case. */
  readonly asksPerson: boolean;
};

/** The rest of the contacts waits for the variant that wins, or for its run. */
export type WinnerWait = {
  readonly kind: 'winner';
  readonly isDecided: boolean;
  /** Why a person decides; if it is decided, why the run of the rest could not be planned when that was last tried. */
  readonly problem: string | null;
};

type WaitKind = {
  /** Whether a person must act, not Volley (`needsPerson`). */
  readonly needsPerson: boolean;
  /** Whether a worker that could send the run waits with it. */
  readonly stopsWorker: boolean;
};

export const waitKinds = {
  approval: { needsPerson: true, stopsWorker: false },
  start: { needsPerson: false, stopsWorker: false },
  resume: { needsPerson: true, stopsWorker: false },
  promotion: { needsPerson: true, stopsWorker: false },
  canary: { needsPerson: false, stopsWorker: true },
  winner: { needsPerson: false, stopsWorker: false },
  'ledger on hold': { needsPerson: true, stopsWorker: false },
  service: { needsPerson: false, stopsWorker: true },
  window: { needsPerson: false, stopsWorker: true },
  'urgent run': { needsPerson: false, stopsWorker: true },
  worker: { needsPerson: false, stopsWorker: false },
  rate: { needsPerson: false, stopsWorker: false },
  doubts: { needsPerson: true, stopsWorker: false },
} as const satisfies Readonly<Record<RunWait['kind'], WaitKind>>;

/** Whether a person must act. Volley does the rest: `volley resume --all` continues an interrupted run. */
export function needsPerson(wait: RunWait): boolean {
  if (wait.kind === 'resume' && isInterruption(wait.reason)) return false;
  if (wait.kind === 'winner') return wait.problem !== null;
  return waitKinds[wait.kind].needsPerson;
}

/** Whether a person can end the wait by promoting the run, or a variant of it. */
export function isPromotable(wait: RunWait): boolean {
  return wait.kind === 'canary' || wait.kind === 'promotion' || (wait.kind === 'winner' && !wait.isDecided);
}

/** What the state of a run says, whatever workers do; undefined for one that is running or has ended. */
export function waitOfState(state: RunState, reason: RunReason | null): RunWait | undefined {
  if (state === 'paused')
    return reason !== null && isStoppedByCanary(reason)
      ? { kind: 'promotion', reason }
      : { kind: 'resume', reason };
  if (state !== 'planned') return undefined;
  const needsApproval = typeof reason === 'object' && reason?.kind === 'waits_for_approval';
  return needsApproval ? { kind: 'approval', reason } : { kind: 'start' };
}

type StateOfRun = { readonly state: RunState; readonly stateReason: RunReason | null };

/** Whether a run that can still send waits for a person. Other such runs need a worker only. */
export function isLeftToPerson({ state, stateReason }: StateOfRun): boolean {
  const wait = waitOfState(state, stateReason);
  return wait !== undefined && needsPerson(wait);
}

import type { RejectionReason } from './contacts.ts';

/** The least urgent first. More urgent runs of an account preempt the others. */
export const priorities = ['bulk', 'normal', 'urgent'] as const;
export type Priority = (typeof priorities)[number];

/** `planned → sending → accepted | rejected | failed | in_doubt`, `cancelled`, `abandoned`. */
export const requestStates = [
  'planned',
  'sending',
  'accepted',
  'rejected',
  'failed',
  'in_doubt',
  'cancelled',
  'abandoned',
] as const;
export type RequestState = (typeof requestStates)[number];

/** Requests in these states were settled and not accepted. */
export const failedStates = ['rejected', 'failed', 'in_doubt', 'abandoned'] as const satisfies RequestState[];
export type FailedState = (typeof failedStates)[number];

/** What an attempt proved. */
export type AttemptVerdict =
  | 'accepted'
  | 'rejected'
  | 'unauthorized'
  | 'retry'
  | 'failed'
  | 'in_doubt'
  | 'released';

/** An operator's decision on a request in doubt. */
export const resolutions = ['accepted', 'resend', 'abandon'] as const;
export type Resolution = (typeof resolutions)[number];

/** Follows the request's state until a delivery report decides `delivered` or `undelivered`. */
export const recipientStates = [
  'pending',
  'accepted',
  'delivered',
  'undelivered',
  'rejected',
  'failed',
  'unknown',
  'cancelled',
] as const;
export type RecipientState = (typeof recipientStates)[number];

/** Recipients in these states were not reached, or (`unknown`) may not have been. */
export const rerunStates = [
  'failed',
  'rejected',
  'unknown',
  'undelivered',
  'cancelled',
] as const satisfies readonly RecipientState[];
export type RerunState = (typeof rerunStates)[number];

/** `test`: rows of the contact files, sent to addresses of the operator. It counts only as money. */
export const runKinds = ['ordinary', 'test'] as const;
export type RunKind = (typeof runKinds)[number];

/** `planned → running → completed`, `paused`, `cancelled`. */
export const runStates = ['planned', 'running', 'completed', 'paused', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];

/** In `settling doubts` only requests in doubt are left. */
export const runPhases = ['sending', 'settling doubts'] as const;
export type RunPhase = (typeof runPhases)[number];

/** States in which a run can still change. */
export const openRunStates = ['planned', 'running', 'paused'] as const satisfies readonly RunState[];

/** Whether the run cannot be resumed. */
export function hasEnded(state: RunState): boolean {
  return state === 'completed' || state === 'cancelled';
}

export const tickStates = ['due', 'started', 'skipped', 'missed', 'failed'] as const;
export type TickState = (typeof tickStates)[number];

export type RequestCounts = { readonly total: number } & Readonly<Record<RequestState, number>>;
export type RecipientCounts = { readonly total: number } & Readonly<Record<RecipientState, number>>;
export type ContactCounts = { readonly read: number } & Readonly<Record<RejectionReason, number>> & {
    /** Rows left for a later run; absent if it has neither a limit nor a winner to wait for. */
    readonly beyondLimit?: number;
  };

/** Requests that wait for their window to open. */
export type WindowWait = {
  /** IANA names. The window is open while it is open in all of them. */
  readonly timeZones: readonly string[];
  /** ISO 8601. */
  readonly until: string;
  readonly requests: number;
  readonly recipients: number;
};

/** Requests in doubt with the same answer, or for the same other reason. */
export type DoubtGroup = {
  readonly reason: string;
  readonly requests: number;
  readonly recipients: number;
};

/** The `--json` output of `run`, `resume` and `status`. Counts always add up to their totals. */
export type RunSummary = {
  readonly run: string;
  readonly campaign: string;
  readonly kind: RunKind;
  readonly state: RunState;
  readonly contacts: ContactCounts;
  readonly requests: RequestCounts;
  readonly recipients: RecipientCounts;
  /** Recipients with a final delivery report whose requests were never sent; in no other count, and absent if none. */
  readonly reportedUnsent?: number;
  /** Ordered by opening time; absent if nothing waits. */
  readonly waits?: readonly WindowWait[];
  /** Why requests are in doubt, the largest groups first; absent if none is. */
  readonly doubts?: readonly DoubtGroup[];
};

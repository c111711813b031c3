import type { RejectionReason } from './contacts.ts';

/** How urgent a run is, from the least. A more urgent one goes before the others of its account. */
export const priorities = ['bulk', 'normal', 'urgent'] as const;
export type Priority = (typeof priorities)[number];

/** Request: `planned → sending → accepted | rejected | failed | in_doubt`, `cancelled`, `abandoned`. */
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

/** What an operator can say of a request in doubt: it was accepted, send it again, give it up. */
export const resolutions = ['accepted', 'resend', 'abandon'] as const;
export type Resolution = (typeof resolutions)[number];

/** Recipient: follows from its request's state until a delivery report says `delivered` or `undelivered`. */
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

/** Run: `planned → running → completed`, `paused`, `cancelled`. */
export const runStates = ['planned', 'running', 'completed', 'paused', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];

/** What is done of a run that is sent: when all else is done, what can be done about its requests in doubt. */
export const runPhases = ['sending', 'settling doubts'] as const;
export type RunPhase = (typeof runPhases)[number];

/** Whether the run has ended for good: nothing of it is planned, and it cannot be resumed. */
export function hasEnded(state: RunState): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** What became of a time at which a campaign was to run by itself. */
export const tickStates = ['due', 'started', 'skipped', 'missed', 'failed'] as const;
export type TickState = (typeof tickStates)[number];

export type RequestCounts = { readonly total: number } & Readonly<Record<RequestState, number>>;
export type RecipientCounts = { readonly total: number } & Readonly<Record<RecipientState, number>>;
export type ContactCounts = { readonly read: number } & Readonly<Record<RejectionReason, number>>;

/** Requests of a run that wait until their sending window opens. */
export type WindowWait = {
  /** Names of the IANA database: the window is open while it is in each of them. */
  readonly timeZones: readonly string[];
  /** ISO 8601. */
  readonly until: string;
  readonly requests: number;
  readonly recipients: number;
};

/** What `run`, `resume` and `status` print with `--json`; the counts always add up to their totals. */
export type RunSummary = {
  readonly run: string;
  readonly campaign: string;
  readonly state: RunState;
  readonly contacts: ContactCounts;
  readonly requests: RequestCounts;
  readonly recipients: RecipientCounts;
  /** What opens first comes first; only where something waits. */
  readonly waits?: readonly WindowWait[];
};

import type { Resolution } from './runs.ts';

/**
 * Why a request, an attempt or a run is as it is: one of our kinds with its values, or a text, which is in the words of
 * others: of the service, of an operator, or of what failed on the way to the service. `platform/reason-words.ts` words them.
 */

/** Kinds of why a request is in its state, or of what its attempt came to. */
export const requestReasonKinds = [
  'job',
  'reported',
  'looked_up',
  'worker_ended',
  'resent',
  'run_cancelled',
  'run_cancelled_before_resend',
  'all_suppressed',
  'all_suppressed_before_resend',
  'suppressed',
  'withheld',
  'claim_unanswered',
  'resolved',
  'ledger_restored',
  'untried_proof',
] as const;
type RequestReasonKind = (typeof requestReasonKinds)[number];

/** Kinds without values. */
export type BareReasonKind = Exclude<
  RequestReasonKind,
  'job' | 'resent' | 'withheld' | 'resolved' | UnrecordedReason['kind']
>;

/** Why an attempt was not made. */
export type Withholding = 'stopping' | 'not_held' | 'window_shut' | 'service_refuses' | 'files_unread';

/** Why what is planned may have been sent all the same: by a ledger that is gone, or by a copy of this one. */
export type UnrecordedReason =
  /** An operator has said that it was restored to a time (ISO 8601), and why. */
  | { readonly kind: 'ledger_restored'; readonly since: string; readonly words: string }
  /** A report has proved a request that this ledger never tried. */
  | { readonly kind: 'untried_proof'; readonly messageId: string };

export type RequestReason =
  | string
  /** It is accepted, under this number of the service. */
  | { readonly kind: 'job'; readonly job: string }
  /**
   * A report or a reply proves it; the look-up does; the worker that was sending it ended; its run was cancelled; all its
   * recipients were suppressed, or the one that the reason is of; the ledger's answer to the claim was lost.
   */
  | { readonly kind: BareReasonKind }
  /** It was sent again after a doubt, and ended so: it may have arrived before. */
  | { readonly kind: 'resent'; readonly state: 'rejected' | 'failed'; readonly words: string | null }
  | { readonly kind: 'withheld'; readonly because: Withholding }
  | {
      readonly kind: 'resolved';
      readonly resolution: Resolution;
      readonly by: string;
      readonly words: string;
    }
  | UnrecordedReason;

/** Kinds of why a run is in its state. */
export const runReasonKinds = [
  'interrupted',
  'waits_for_approval',
  'approved',
  'all_rejected',
  'too_many_rejected',
  'credential_refused',
  'service_refuses',
  'doubts_reopened',
  'ledger_held',
  'ledger_restored',
  'untried_proof',
] as const;

export type RunReason =
  | string
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'waits_for_approval'; readonly why: string }
  | { readonly kind: 'approved'; readonly by: string }
  | FailFastReason
  | { readonly kind: 'credential_refused'; readonly account: string; readonly words: string }
  | {
      readonly kind: 'service_refuses';
      readonly account: string;
      /** For how long it is waited. */
      readonly milliseconds: number;
      readonly words: string;
    }
  /** Requests of it are to be sent again. */
  | { readonly kind: 'doubts_reopened'; readonly run: string }
  | { readonly kind: 'ledger_held'; readonly hold: HoldReason }
  | UnrecordedReason;

/** The service rejects too much of a run: of `requests` that were answered. */
export type FailFastReason =
  | { readonly kind: 'all_rejected'; readonly requests: number }
  | {
      readonly kind: 'too_many_rejected';
      readonly rejected: number;
      readonly requests: number;
      readonly share: number;
    };

/** Kinds of why nothing is claimed from a ledger. */
export const holdReasonKinds = [
  'former_backup',
  'lacks_claim',
  'lacks_attempt',
  'other_server',
  'other_timeline',
  'other_database',
  'being_restored',
] as const;

export type HoldReason =
  /** An operator has said that the ledger was restored, and it is as it was before. */
  | { readonly kind: 'former_backup' }
  /** One of this machine, of that time (ISO 8601). It names no run, because callers of the API are shown it for any run. */
  | { readonly kind: 'lacks_claim'; readonly at: string }
  /** A report has proved a request that it never tried. */
  | { readonly kind: 'lacks_attempt' }
  | {
      readonly kind: 'other_server' | 'other_timeline' | 'other_database';
      readonly was: string;
      readonly is: string;
    }
  /** An operator says so. */
  | { readonly kind: 'being_restored'; readonly words: string };

export type Reason = RequestReason | RunReason | HoldReason;

/** Whether a run was paused because its process was asked to stop, and by nothing else. */
export function isInterruption(reason: RunReason | null): boolean {
  return typeof reason === 'object' && reason?.kind === 'interrupted';
}

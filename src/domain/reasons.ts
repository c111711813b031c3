import type { Channel } from './message.ts';
import type { Resolution } from './runs.ts';
import type { SuppressionSource } from './suppressions.ts';

/**
 * Why a request, an attempt, a run, a contact or a time of a schedule is as it is: one of our kinds with its values, or a
 * text, which is in the words of others: of the service, of an operator, or of what failed. `ledger/reasons.ts` reads them
 * from the ledger, and `platform/reason-text.ts` words them.
 */

/** Kinds without values. */
export type BareReasonKind =
  | 'reported'
  | 'looked_up'
  | 'worker_ended'
  | 'run_cancelled'
  | 'run_cancelled_before_resend'
  | 'all_suppressed'
  | 'all_suppressed_before_resend'
  | 'suppressed'
  | 'claim_unanswered';

/** Why an attempt was not made. */
export const withheldCauses = [
  'stopping',
  'not_held',
  'window_shut',
  'service_refuses',
  'files_unread',
] as const;
export type WithheldCause = (typeof withheldCauses)[number];

/** Why what is planned may have been sent all the same: by a ledger that is gone, or by a copy of this one. */
export type UnrecordedReason =
  /** An operator has said that it was restored to a time (ISO 8601), and why. */
  | { readonly kind: 'ledger_restored'; readonly since: string; readonly words: string }
  /** A report has proved a request that this ledger never tried. */
  | { readonly kind: 'untried_proof'; readonly messageId: string };

/** Why a request is in its state, or what its attempt came to. */
export type RequestReason =
  | string
  /** It is accepted, under this number of the service. */
  | { readonly kind: 'job_number'; readonly jobNumber: string }
  /**
   * A report or a reply proves it; the look-up does; the worker that was sending it ended; its run was cancelled; all its
   * recipients were suppressed, or the one that the reason is of; the ledger's answer to the claim was lost.
   */
  | { readonly kind: BareReasonKind }
  /** It was sent again after a doubt, and ended so: it may have arrived before. */
  | { readonly kind: 'resent'; readonly state: 'rejected' | 'failed'; readonly words: RequestReason | null }
  | { readonly kind: 'withheld'; readonly because: WithheldCause }
  | {
      readonly kind: 'resolved';
      readonly resolution: Resolution;
      readonly by: string;
      readonly words: string;
    }
  | UnrecordedReason;

/** Why a run is in its state. */
export type RunReason =
  | string
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'waits_for_approval'; readonly why: ApprovalReason }
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

/** Why nothing is claimed from a ledger. */
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

/** Why a run has to be approved. */
export type ApprovalReason =
  | { readonly kind: 'every_run' }
  | { readonly kind: 'many_recipients'; readonly recipients: number; readonly limit: number }
  /** Decimal texts. */
  | { readonly kind: 'high_cost'; readonly cost: string; readonly currency: string; readonly limit: string }
  | { readonly kind: 'unknown_cost'; readonly words: string };

/** Why a time of a schedule made no run; a text says why the run could not be planned. */
export type TickReason =
  | string
  /** No worker was there in time. */
  | { readonly kind: 'no_worker'; readonly catchUpMilliseconds: number }
  | { readonly kind: 'run_not_over'; readonly run: string }
  | { readonly kind: 'ledger_restored_since'; readonly words: string };

/** Why a contact is left out of a run; a text says what is wrong with its row. */
export type RejectionDetail = string | ReachedReason | DuplicateReason | SuppressedReason;

/** A run reached it, will reach it or may have; `sent_again`: of a run that this one is made from. */
export type ReachedReason = {
  readonly kind: 'sent' | 'to_be_sent' | 'may_have_been_sent' | 'sent_again';
  readonly run: string;
};

/** An earlier contact is the same. */
export type DuplicateReason = {
  readonly kind: 'same_contact';
  /** Columns that tell contacts apart; none: the address does. */
  readonly key: readonly string[];
  /** Where the earlier one stands; the file only where there are several. */
  readonly file: string | null;
  readonly line: number;
  /** Whether it is sent something else. */
  readonly differs: boolean;
};

/** Its address must not be sent to. */
export type SuppressedReason =
  | ({
      readonly kind: 'suppressed_address';
      readonly channel: Channel;
      /** Empty: for all. */
      readonly subAccount: string;
    } & SuppressionOrigin)
  | { readonly kind: 'suppressed_hash'; readonly channel: Channel; readonly subAccount: string }
  /** By a list of the campaign's own. */
  | { readonly kind: 'listed'; readonly file: string; readonly line: number }
  /** Within that time; `run` is null for a run of another account. */
  | { readonly kind: 'sent_recently'; readonly milliseconds: number; readonly run: string | null };

/** Where a suppression comes from. */
export type SuppressionOrigin = {
  readonly source: SuppressionSource;
  /** What the operator, the recipient or the service said; may be empty. */
  readonly reason: string;
  /** The run that a reply or a report is of. */
  readonly run: string | null;
};

export type Reason = RequestReason | RunReason | HoldReason | ApprovalReason | TickReason | RejectionDetail;

/** Whether a run was paused because its process was asked to stop, and by nothing else. */
export function isInterruption(reason: RunReason | null): boolean {
  return typeof reason === 'object' && reason?.kind === 'interrupted';
}

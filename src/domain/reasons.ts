import type { Channel } from './message.ts';
import type { Resolution } from './runs.ts';
import type { SuppressionSource } from './suppressions.ts';

/**
 * A reason is one of our kinds with its values, or text from the service, an operator or an error.
 * `ledger/reasons.ts` decodes reasons, and `platform/reason-text.ts` formats them.
 */

/** `claim_unanswered`: the ledger's answer to the claim was lost. */
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

export const withheldCauses = [
  'stopping',
  'not_held',
  'window_shut',
  'service_refuses',
  'files_unread',
] as const;
export type WithheldCause = (typeof withheldCauses)[number];

/** A planned request may have been sent anyway: by a lost ledger, or by a copy of this one. */
export type UnrecordedReason =
  /** An operator reported a restore to the time `since` (ISO 8601). */
  | { readonly kind: 'ledger_restored'; readonly since: string; readonly words: string }
  /** A delivery report proves a request that this ledger never attempted. */
  | { readonly kind: 'untried_proof'; readonly messageId: string };

/** The reason for a request's state, or the result of its attempt. */
export type RequestReason =
  | string
  /** Accepted under this number of the service. */
  | { readonly kind: 'job_number'; readonly jobNumber: string }
  /** In doubt: another request has this number too, so neither answer proves anything. */
  | { readonly kind: 'repeated_job_number'; readonly jobNumber: string }
  | { readonly kind: BareReasonKind }
  /** Sent again while in doubt; it may have arrived before. */
  | { readonly kind: 'resent'; readonly state: 'rejected' | 'failed'; readonly words: RequestReason | null }
  | { readonly kind: 'withheld'; readonly because: WithheldCause }
  | {
      readonly kind: 'resolved';
      readonly resolution: Resolution;
      readonly by: string;
      readonly words: string;
    }
  | UnrecordedReason;

/** Words of requests or recipients that are not among the most frequent of their run, so they were not kept. */
export type OtherWords = { readonly kind: 'other_words' };

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
      /** How long the run waited. */
      readonly milliseconds: number;
      readonly words: string;
    }
  /** Its requests in doubt will be sent again. */
  | { readonly kind: 'doubts_reopened'; readonly run: string }
  | { readonly kind: 'ledger_held'; readonly hold: HoldReason }
  | UnrecordedReason;

/** The service rejected too many of the `requests` it answered, or the address is not of its interface. */
export type FailFastReason =
  /** What answers the first `requests` at `url`: status, media type and first words of the last answer. */
  | {
      readonly kind: 'foreign_answers';
      readonly requests: number;
      readonly url: string;
      readonly words: string;
    }
  | { readonly kind: 'all_rejected'; readonly requests: number }
  | {
      readonly kind: 'too_many_rejected';
      readonly rejected: number;
      readonly requests: number;
      readonly share: number;
    };

/** Why no request may be claimed from a ledger. */
export type HoldReason =
  /** An operator reported a restore, but the ledger is in its earlier state again. */
  | { readonly kind: 'former_backup' }
  /**
   * The ledger lacks a claim of this machine (time in ISO 8601). Names no run, because API callers see this
   * reason for any run.
   */
  | { readonly kind: 'lacks_claim'; readonly at: string }
  /** A delivery report proves a request that this ledger never attempted. */
  | { readonly kind: 'lacks_attempt' }
  | {
      readonly kind: 'other_server' | 'other_timeline' | 'other_database';
      readonly was: string;
      readonly is: string;
    }
  | { readonly kind: 'being_restored'; readonly words: string };

/** Why a run needs approval. */
export type ApprovalReason =
  | { readonly kind: 'every_run' }
  | { readonly kind: 'many_recipients'; readonly recipients: number; readonly limit: number }
  /** Decimal texts. */
  | { readonly kind: 'high_cost'; readonly cost: string; readonly currency: string; readonly limit: string }
  | { readonly kind: 'unknown_cost'; readonly words: string };

/** Why a tick made no run. Text: why planning failed. */
export type TickReason =
  | string
  | { readonly kind: 'no_worker'; readonly catchUpMilliseconds: number }
  | { readonly kind: 'run_not_over'; readonly run: string }
  | { readonly kind: 'ledger_restored_since'; readonly words: string };

/** Why a contact was rejected. Text: what is wrong with its row. */
export type RejectionDetail = string | ReachedReason | DuplicateReason | SuppressedReason;

/** A run has reached the contact, will reach it, or may have reached it. `sent_again`: by a rerun of this run. */
export type ReachedReason = {
  readonly kind: 'sent' | 'to_be_sent' | 'may_have_been_sent' | 'sent_again';
  readonly run: string;
};

/** An earlier contact is identical. */
export type DuplicateReason = {
  readonly kind: 'same_contact';
  /** Columns that identify contacts; none: the address. */
  readonly key: readonly string[];
  /** Where the earlier contact stands; null if there is only one file. */
  readonly file: string | null;
  readonly line: number;
  /** Whether its message would differ. */
  readonly differs: boolean;
};

export type SuppressedReason =
  | ({
      readonly kind: 'suppressed_address';
      readonly channel: Channel;
      /** Empty: all SubAccounts. */
      readonly subAccount: string;
    } & SuppressionOrigin)
  | { readonly kind: 'suppressed_hash'; readonly channel: Channel; readonly subAccount: string }
  /** In a suppression file of the campaign. */
  | { readonly kind: 'listed'; readonly file: string; readonly line: number }
  /** Within that time; null: by a run of another account. */
  | { readonly kind: 'sent_recently'; readonly milliseconds: number; readonly run: string | null };

export type SuppressionOrigin = {
  readonly source: SuppressionSource;
  /** Words of the operator, recipient or service; may be empty. */
  readonly reason: string;
  /** The run of the reply or delivery report. */
  readonly run: string | null;
};

export type Reason =
  | RequestReason
  | OtherWords
  | RunReason
  | HoldReason
  | ApprovalReason
  | TickReason
  | RejectionDetail;

/** Whether the run paused only because its process was asked to stop. */
export function isInterruption(reason: RunReason | null): boolean {
  return typeof reason === 'object' && reason?.kind === 'interrupted';
}

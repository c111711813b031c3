import { type HoldReason, heldLedgerAdvice, holdReasonKinds, isHoldReason } from './hold-reasons.ts';
import {
  bareKind,
  either,
  type Guard,
  isReasonOf,
  number,
  oneOf,
  orNull,
  type ReasonKind,
  type ReasonOf,
  reasonKind,
  text,
} from './reason-kind.ts';
import { type RejectionDetail, rejectionKinds } from './rejected-contacts.ts';
import { type Resolution, resolutions } from './runs.ts';
import { formatDuration } from './scalar-text.ts';
import { watchReasonKinds } from './watch-reasons.ts';

/*
 * A reason is one of these kinds with its values, or text from the service, an operator or an error. The ledger
 * stores kinds and values; a migration adds a new kind to the closed list of its columns.
 */

export const withheldCauses = [
  'stopping',
  'not_held',
  'window_shut',
  'service_refuses',
  'files_unread',
] as const;
export type WithheldCause = (typeof withheldCauses)[number];

const withheldWords: Readonly<Record<WithheldCause, string>> = {
  stopping: 'stopped before it was sent',
  not_held: 'not sent, because another worker may hold its slice',
  window_shut: 'not sent, because its window had closed',
  service_refuses: 'not sent, because the service refuses every request',
  files_unread: 'its files could not be read from the ledger',
};

const resolvedWords: Readonly<Record<Resolution, string>> = {
  accepted: 'resolved as accepted',
  resend: 'to be sent again',
  abandon: 'abandoned',
};

/** A planned request may have been sent anyway: by a lost ledger, or by a copy of this one. */
const unrecordedKinds = {
  /** An operator reported a restore to the time `since` (ISO 8601). */
  ledger_restored: reasonKind(
    { since: text, words: text },
    ({ since, words }) => `the ledger was restored to ${since} (${words}): it may have been sent since`,
  ),
  /** A delivery report proves a request that this ledger never attempted. */
  untried_proof: reasonKind(
    { messageId: text },
    ({ messageId }) =>
      `a delivery report or a reply proves that the service has ${messageId}, which this ledger never sent; the ledger was restored from a backup, or a copy of it has sent the run`,
  ),
};
export type UnrecordedReason = ReasonOf<typeof unrecordedKinds>;

const bareKinds = {
  reported: bareKind('proved by a delivery report or a reply'),
  looked_up: bareKind('proved by the status look-up'),
  worker_ended: bareKind('the process that was sending it ended before the answer was recorded'),
  run_cancelled: bareKind('the run was cancelled'),
  run_cancelled_before_resend: bareKind('the run was cancelled before it was sent again'),
  all_suppressed: bareKind('every recipient was suppressed after the run was planned'),
  all_suppressed_before_resend: bareKind('not sent again, because every recipient is suppressed'),
  suppressed: bareKind('suppressed after the run was planned'),
  claim_unanswered: bareKind('not sent, because the answer of the ledger to its claim was lost'),
};
export type BareReasonKind = keyof typeof bareKinds;

/** Sent again while in doubt; it may have arrived before. */
type Resent = { readonly state: 'rejected' | 'failed'; readonly words: RequestReason | null };
const resent: ReasonKind<Resent> = reasonKind<Resent>(
  {
    state: oneOf(['rejected', 'failed']),
    // Deferred, because the kinds of a request's reasons include this one.
    words: (value) => orNull(isRequestReason)(value),
  },
  ({ state, words }) => {
    const sentAgain = `sent again and ${state}, but it may have arrived before`;
    return words === null ? sentAgain : `${sentAgain}: ${formatReason(words)}`;
  },
);

/** Why a request is in its state, or what its attempt came to. */
export const requestReasonKinds = {
  ...bareKinds,
  /** Accepted under this number of the service. */
  job_number: reasonKind({ jobNumber: text }, ({ jobNumber }) => `job number ${jobNumber}`),
  /** In doubt: another request has this number too, so neither answer proves anything. */
  repeated_job_number: reasonKind(
    { jobNumber: text },
    ({ jobNumber }) =>
      `the service answered another request with the same job number ${jobNumber}, so the answer proves nothing`,
  ),
  resent,
  withheld: reasonKind({ because: oneOf(withheldCauses) }, ({ because }) => withheldWords[because]),
  resolved: reasonKind(
    { resolution: oneOf(resolutions), by: text, words: text },
    ({ resolution, by, words }) => `${resolvedWords[resolution]} by ${by}: ${words}`,
  ),
  ...unrecordedKinds,
};
export type RequestReason = string | ReasonOf<Omit<typeof requestReasonKinds, 'resent'>> | ResentReason;
type ResentReason = { readonly kind: 'resent' } & Resent;
export const isRequestReason: Guard<RequestReason> = either(text, isReasonOf(requestReasonKinds));

const otherKinds = {
  /** Words of requests or recipients that are not among the most frequent of their run, so they were not kept. */
  other_words: bareKind('other words, each of them less frequent'),
};
export type OtherWords = ReasonOf<typeof otherKinds>;

/** Why a run needs approval. `cost` and `limit` are decimal texts. */
export const approvalReasonKinds = {
  every_run: bareKind('every run of the campaign'),
  many_recipients: reasonKind(
    { recipients: number, limit: number },
    ({ recipients, limit }) => `${recipients} recipients, more than ${limit}`,
  ),
  high_cost: reasonKind(
    { cost: text, currency: text, limit: text },
    ({ cost, currency, limit }) => `${cost} ${currency}, more than ${limit}`,
  ),
  unknown_cost: reasonKind({ words: text }, ({ words }) => `its cost is unknown: ${words}`),
};
export type ApprovalReason = ReasonOf<typeof approvalReasonKinds>;
export const isApprovalReason = isReasonOf(approvalReasonKinds);

export const runReasonKinds = {
  interrupted: bareKind('interrupted'),
  waits_for_approval: reasonKind(
    { why: isApprovalReason },
    ({ why }) => `waits for approval: ${approvalReasonKinds[why.kind].words(why)}`,
  ),
  approved: reasonKind({ by: text }, ({ by }) => `approved by ${by}`),
  ...watchReasonKinds,
  credential_refused: reasonKind(
    { account: text, words: text },
    ({ account, words }) => `the service refused the credential of account "${account}": ${words}`,
  ),
  /** `milliseconds`: how long the run waited. */
  service_refuses: reasonKind(
    { account: text, milliseconds: number, words: text },
    ({ account, milliseconds, words }) =>
      `the service has refused every request of account "${account}" for ${formatDuration(milliseconds)}: ${words}`,
  ),
  /** Its requests in doubt will be sent again. */
  doubts_reopened: reasonKind({ run: text }, () => 'requests in doubt are to be sent again'),
  ledger_held: reasonKind(
    { hold: isHoldReason },
    ({ hold }) => `${holdReasonKinds[hold.kind].words(hold)} ${heldLedgerAdvice}`,
  ),
  ...unrecordedKinds,
};
export type RunReason = string | ReasonOf<typeof runReasonKinds>;
export const isRunReason: Guard<RunReason> = either(text, isReasonOf(runReasonKinds));

/** Why a tick made no run. Text: why planning failed. */
export const tickReasonKinds = {
  no_worker: reasonKind(
    { catchUpMilliseconds: number },
    ({ catchUpMilliseconds }) =>
      `no worker was there in time (catchUp: ${formatDuration(catchUpMilliseconds)})`,
  ),
  run_not_over: reasonKind({ run: text }, ({ run }) => `run ${run} has not ended`),
  ledger_restored_since: reasonKind(
    { words: text },
    ({ words }) => `the ledger was restored (${words}), and its run may have been sent`,
  ),
};
export type TickReason = string | ReasonOf<typeof tickReasonKinds>;
export const isTickReason: Guard<TickReason> = either(text, isReasonOf(tickReasonKinds));

export type Reason =
  | RequestReason
  | OtherWords
  | RunReason
  | HoldReason
  | ApprovalReason
  | TickReason
  | RejectionDetail;

export function formatReason(reason: Reason): string {
  return typeof reason === 'string' ? reason : reasonKinds[reason.kind].words(reason);
}

export function formatReasonOrNull(reason: Reason | null): string | null {
  return reason === null ? null : formatReason(reason);
}

const reasonKinds: Readonly<Record<Exclude<Reason, string>['kind'], ReasonKind<unknown>>> = {
  ...requestReasonKinds,
  ...otherKinds,
  ...runReasonKinds,
  ...holdReasonKinds,
  ...approvalReasonKinds,
  ...tickReasonKinds,
  ...rejectionKinds,
};

/** Whether the run paused only because its process was asked to stop. */
export function isInterruption(reason: RunReason | null): boolean {
  return typeof reason === 'object' && reason?.kind === 'interrupted';
}

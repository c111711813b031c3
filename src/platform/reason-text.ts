import type { OtherWords, Reason, RequestReason, RunReason, WithheldCause } from '../domain/reasons.ts';
import type { Resolution } from '../domain/runs.ts';
import { formatPlanningReason } from './planning-reason-text.ts';
import { formatDuration, formatPercent } from './scalar-text.ts';

export const heldLedgerAdvice =
  '`volley db restored --since TIME --reason …` puts requests that may have been sent in doubt and goes on (docs/how-to/backup.md).';

/** The ledger stores kinds and values; only this function turns them into text. */
export function formatReason(reason: Reason): string {
  if (typeof reason === 'string') return reason;
  switch (reason.kind) {
    case 'other_words':
      return 'other words, each of them less frequent';
    case 'job_number':
      return `job number ${reason.jobNumber}`;
    case 'repeated_job_number':
      return `the service answered another request with the same job number ${reason.jobNumber}, so the answer proves nothing`;
    case 'reported':
      return 'proved by a delivery report or a reply';
    case 'looked_up':
      return 'proved by the status look-up';
    case 'worker_ended':
      return 'the process that was sending it ended before the answer was recorded';
    case 'resent': {
      const words = `sent again and ${reason.state}, but it may have arrived before`;
      return reason.words === null ? words : `${words}: ${formatReason(reason.words)}`;
    }
    case 'run_cancelled':
      return 'the run was cancelled';
    case 'run_cancelled_before_resend':
      return 'the run was cancelled before it was sent again';
    case 'all_suppressed':
      return 'every recipient was suppressed after the run was planned';
    case 'all_suppressed_before_resend':
      return 'not sent again, because every recipient is suppressed';
    case 'suppressed':
      return 'suppressed after the run was planned';
    case 'withheld':
      return withheld[reason.because];
    case 'claim_unanswered':
      return 'not sent, because the answer of the ledger to its claim was lost';
    case 'resolved':
      return `${resolved[reason.resolution]} by ${reason.by}: ${reason.words}`;
    case 'ledger_restored':
      return `the ledger was restored to ${reason.since} (${reason.words}): it may have been sent since`;
    case 'untried_proof':
      return `a delivery report or a reply proves that the service has ${reason.messageId}, which this ledger never sent; the ledger was restored from a backup, or a copy of it has sent the run`;
    case 'interrupted':
      return 'interrupted';
    case 'waits_for_approval':
      return `waits for approval: ${formatPlanningReason(reason.why)}`;
    case 'approved':
      return `approved by ${reason.by}`;
    case 'foreign_answers':
      return `all of the first ${reason.requests} requests are in doubt, because what answers at ${reason.url} is not the interface of the account: ${reason.words} (failFast). See "baseUrl" of the account`;
    case 'all_rejected':
      return `the service rejected all of the first ${reason.requests} requests (failFast)`;
    case 'too_many_rejected':
      return `the service rejected ${reason.rejected} of ${reason.requests} requests, more than ${formatPercent(reason.share)} (failFast)`;
    case 'credential_refused':
      return `the service refused the credential of account "${reason.account}": ${reason.words}`;
    case 'service_refuses':
      return `the service has refused every request of account "${reason.account}" for ${formatDuration(reason.milliseconds)}: ${reason.words}`;
    case 'doubts_reopened':
      return `requests in doubt are to be sent again; \`volley resume ${reason.run}\` sends them`;
    case 'ledger_held':
      return `${formatReason(reason.hold)} ${heldLedgerAdvice}`;
    default:
      return formatHoldReason(reason);
  }
}

export function formatReasonOrNull(reason: Reason | null): string | null {
  return reason === null ? null : formatReason(reason);
}

const withheld: Readonly<Record<WithheldCause, string>> = {
  stopping: 'stopped before it was sent',
  not_held: 'not sent, because another worker may hold its slice',
  window_shut: 'not sent, because its window had closed',
  files_unread: 'its files could not be read from the ledger',
  service_refuses: 'not sent, because the service refuses every request',
};

const resolved: Readonly<Record<Resolution, string>> = {
  accepted: 'resolved as accepted',
  resend: 'to be sent again',
  abandon: 'abandoned',
};

/** Returns whole sentences, because they are shown alone. */
function formatHoldReason(reason: Exclude<Reason, string | RequestReason | OtherWords | RunReason>): string {
  switch (reason.kind) {
    case 'former_backup':
      return 'An operator reported a restore of this ledger, but now it is in its earlier state again: an older backup has replaced it.';
    case 'lacks_claim':
      return `This machine claimed a request at ${reason.at} that the ledger lacks: it was restored from a backup, or is a copy.`;
    case 'lacks_attempt':
      return 'A delivery report or a reply proves that the service has a message that this ledger never sent: the ledger was restored from a backup, or a copy of it has sent.';
    case 'other_server':
      return `The ledger was on another server (system identifier ${reason.was}, now ${reason.is}): it was restored from a backup, copied or moved.`;
    case 'other_timeline':
      return `The server is on another timeline (${timelineNumber(reason.was)}, now ${timelineNumber(reason.is)}): a standby was promoted, or a backup restored, which may lack the last claims.`;
    case 'other_database':
      return `The ledger was another database of this server (number ${reason.was}, now ${reason.is}): it was restored from a dump, or is a copy.`;
    case 'being_restored':
      return `An operator is handling a restored ledger: ${reason.words}.`;
    default:
      return formatPlanningReason(reason);
  }
}

/** From the eight hexadecimal digits in the name of a WAL file. A log hides so many digits, as an address. */
function timelineNumber(digits: string): number {
  return Number.parseInt(digits, 16);
}

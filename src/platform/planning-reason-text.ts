import type { ApprovalReason, RejectionDetail, SuppressionOrigin, TickReason } from '../domain/reasons.ts';
import { formatDuration } from './scalar-text.ts';

type PlanningReason = Exclude<RejectionDetail | ApprovalReason | TickReason, string>;

/** Formats reasons of rejected contacts, of runs that wait for approval, and of ticks without a run. */
export function formatPlanningReason(reason: PlanningReason): string {
  switch (reason.kind) {
    case 'sent':
      return `reached by run ${reason.run}`;
    case 'to_be_sent':
      return `to be reached by run ${reason.run}`;
    case 'may_have_been_sent':
      return `may have been reached by run ${reason.run}`;
    case 'sent_again':
      return `reached again by run ${reason.run}`;
    case 'same_contact': {
      const key = reason.key.map((column) => `"${column}"`).join(' and ');
      const source = reason.file === null ? `line ${reason.line}` : `${reason.file}:${reason.line}`;
      const differing = reason.differs ? ', but its message differs' : '';
      return `same ${key || 'address'} as ${source}${differing}`;
    }
    case 'suppressed_address': {
      const why = formatSuppressionReason(reason);
      return `suppressed for ${formatScope(reason)}${why === '' ? '' : `: ${why}`}`;
    }
    case 'suppressed_hash':
      return `suppressed for ${formatScope(reason)}, known only by its hash`;
    case 'listed':
      return `listed in ${reason.file}:${reason.line}`;
    case 'sent_recently': {
      const by = reason.run === null ? 'a run of another account' : `run ${reason.run}`;
      return `reached within ${formatDuration(reason.milliseconds)}, by ${by}`;
    }
    default:
      return formatApprovalOrTickReason(reason);
  }
}

function formatScope({ channel, subAccount }: { readonly channel: string; readonly subAccount: string }) {
  return subAccount === '' ? channel : `${channel} of SubAccount ${subAccount}`;
}

export function formatSuppressionReason({ source, reason, run }: SuppressionOrigin): string {
  const text = source === 'reply' ? `replied "${reason}"` : reason;
  return run === null ? text : `${text} (run ${run})`;
}

function formatApprovalOrTickReason(reason: Exclude<ApprovalReason | TickReason, string>): string {
  switch (reason.kind) {
    case 'every_run':
      return 'every run of the campaign';
    case 'many_recipients':
      return `${reason.recipients} recipients, more than ${reason.limit}`;
    case 'high_cost':
      return `${reason.cost} ${reason.currency}, more than ${reason.limit}`;
    case 'unknown_cost':
      return `its cost is unknown: ${reason.words}`;
    case 'no_worker':
      return `no worker was there in time (catchUp: ${formatDuration(reason.catchUpMilliseconds)})`;
    case 'run_not_over':
      return `run ${reason.run} has not ended`;
    case 'ledger_restored_since':
      return `the ledger was restored (${reason.words}), and its run may have been sent`;
  }
}

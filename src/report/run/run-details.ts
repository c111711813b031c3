import { formatReason, formatReasonOrNull } from '../../domain/reasons.ts';
import type { RunState } from '../../domain/runs.ts';
import type { RunReport } from '../../engine/reporting/read-run-report.ts';
import type { RunStateChange } from '../../ledger/runs/describe-run.ts';
import type { Sending } from '../../ledger/runs/describe-sending.ts';
import { formatReasonOf } from '../reason-text-of.ts';
import { formatCampaign } from './run-summary.ts';

/** All of `volley report run`; printed unchanged as JSON. `money` is null if nothing was sent. */
export type RunDetails = ReturnType<typeof toRunDetails>;

/** @param timeZone IANA name, for `sending.sends` and all printed times */
export function toRunDetails(report: RunReport, timeZone: string) {
  const { states, costs, failures, deliveryResults, cancellations, rejectedContacts, ...others } = report;
  const { total, ...money } = costs;
  return {
    ...others,
    stateReason: formatReasonOrNull(others.stateReason),
    timeZone,
    timeline: toTimeline(states, others.sending),
    failures: failures.map(({ group: _, ...failure }) => formatReasonOf(failure)),
    deliveryResults: deliveryResults.map(({ group: _, ...each }) => ({
      ...each,
      result: formatReasonOrNull(each.result),
    })),
    cancellations: cancellations.map((each) => formatReasonOf(each)),
    rejectedContacts: rejectedContacts.map((each) => ({ ...each, detail: formatReason(each.detail) })),
    money: money.bySubAccount.lines.length === 0 ? null : { ...money, ...total },
  };
}

export type TimelineEvent = {
  readonly what: RunState | 'begun' | 'resumed' | 'first request sent' | 'last request sent';
  readonly at: Date;
  readonly reason: string | null;
};

/** Orders events by time. The first start is "begun", later ones "resumed". */
function toTimeline(
  states: readonly RunStateChange[],
  { firstAt, lastAt }: Pick<Sending, 'firstAt' | 'lastAt'>,
): TimelineEvent[] {
  const begun = states.findIndex(({ state }) => state === 'running');
  const changes = states.map(({ state, at, reason: known }, index): TimelineEvent => {
    const reason = formatReasonOrNull(known);
    if (state !== 'running') return { what: state, at, reason };
    return { what: index === begun ? 'begun' : 'resumed', at, reason };
  });
  const sends = [
    ...(firstAt ? [{ what: 'first request sent' as const, at: firstAt, reason: null }] : []),
    ...(lastAt ? [{ what: 'last request sent' as const, at: lastAt, reason: null }] : []),
  ];
  return [...changes, ...sends].sort(
    (one, other) => one.at.getTime() - other.at.getTime() || rank(one.what) - rank(other.what),
  );
}

/** Orders events of one millisecond: starts, sends, ends. */
function rank(what: TimelineEvent['what']): number {
  if (what === 'first request sent' || what === 'last request sent') return 1;
  return what === 'planned' || what === 'begun' || what === 'resumed' ? 0 : 2;
}

export function formatRunHeading({ summary, stateReason, account, channel }: RunDetails): {
  readonly title: string;
  readonly subtitle: readonly string[];
} {
  const { run, state } = summary;
  return {
    title: `Run ${run}`,
    subtitle: [
      `campaign ${formatCampaign(summary)}, account ${account}, ${channel}`,
      stateReason ? `${state}: ${stateReason}` : state,
    ],
  };
}

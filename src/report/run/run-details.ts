import type { RejectedContact } from '../../domain/contacts.ts';
import type { Channel } from '../../domain/message.ts';
import { formatReason, formatReasonOrNull, type RunReason } from '../../domain/reasons.ts';
import type { RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import type { RunState, RunSummary } from '../../domain/runs.ts';
import type { RunCosts } from '../../ledger/billing/run-costs.ts';
import type {
  DeliveryResult,
  FailureGroup,
  RejectionGroup,
  SuppressedRecipients,
} from '../../ledger/counts/groups.ts';
import type { ConflictingDeliveryReport } from '../../ledger/delivery-reports/list.ts';
import type { Sending } from '../../ledger/runs/describe-sending.ts';
import type { Conflicts, ResolutionGroup, RunStateChange } from '../../ledger/runs/history.ts';
import type { VariantResult } from '../../ledger/watch/variant-results.ts';
import { formatReasonOf, type WithReasonText } from '../reason-text-of.ts';
import { type RunMoney, toRunMoney } from './run-money.ts';
import { formatCampaign } from './run-summary.ts';

/** All of `volley report run`; printed unchanged as JSON. */
export type RunDetails = {
  readonly summary: RunSummary;
  readonly stateReason: string | null;
  /** Since when the records of its recipients are deleted; then only counts, requests with rows and costs are left. */
  readonly recordsDeletedAt: Date | null;
  readonly account: string;
  readonly channel: Channel;
  /** IANA name; for `sending.sends` and all printed times. */
  readonly timeZone: string;
  readonly timeline: readonly TimelineEvent[];
  readonly sending: Sending;
  readonly failures: readonly WithReasonText<Omit<FailureGroup, 'group'>>[];
  readonly resolutions: readonly ResolutionGroup[];
  /** Empty: the campaign has none. */
  readonly variants: readonly VariantResult[];
  readonly deliveryResults: readonly (Omit<DeliveryResult, 'group' | 'result'> & {
    readonly result: string | null;
  })[];
  /** All are counted, only the first listed. */
  readonly conflicts: Conflicts & { readonly listed: readonly ConflictingDeliveryReport[] };
  readonly cancellations: readonly WithReasonText<SuppressedRecipients>[];
  readonly rejections: readonly RejectionGroup[];
  readonly rejectedContacts: readonly RejectedContact[];
  readonly money: RunMoney | null;
};

type RecordedRun = Omit<
  RunDetails,
  | 'timeZone'
  | 'timeline'
  | 'money'
  | 'stateReason'
  | 'failures'
  | 'deliveryResults'
  | 'cancellations'
  | 'rejectedContacts'
> & {
  readonly stateReason: RunReason | null;
  readonly failures: readonly FailureGroup[];
  readonly deliveryResults: readonly DeliveryResult[];
  readonly cancellations: readonly SuppressedRecipients[];
  readonly rejectedContacts: readonly RejectedContactRecord[];
  readonly states: readonly RunStateChange[];
  readonly costs: RunCosts;
};

export function toRunDetails({ states, costs, ...recorded }: RecordedRun, timeZone: string): RunDetails {
  const {
    summary,
    stateReason,
    account,
    channel,
    failures,
    deliveryResults,
    cancellations,
    rejectedContacts,
    ...others
  } = recorded;
  const timeline = toTimeline(states, others.sending);
  return {
    summary,
    stateReason: formatReasonOrNull(stateReason),
    account,
    channel,
    timeZone,
    timeline,
    ...others,
    failures: failures.map(({ group: _, ...failure }) => formatReasonOf(failure)),
    deliveryResults: deliveryResults.map(({ group: _, ...each }) => ({
      ...each,
      result: formatReasonOrNull(each.result),
    })),
    cancellations: cancellations.map((each) => formatReasonOf(each)),
    rejectedContacts: rejectedContacts.map((each) => ({ ...each, detail: formatReason(each.detail) })),
    money: toRunMoney(costs),
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

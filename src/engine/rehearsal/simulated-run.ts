import { drawEvents, type Random } from '../../platform/seeded-random.ts';
import type { ReportShares, ServiceModel } from './service-model.ts';
import { type Lot, type Speed, sendFrom, sum } from './simulated-sending.ts';

/** Recipients of a run that are counted together. */
export type Group = {
  readonly isCanary: boolean;
  readonly destination: string;
  /** @param sent the share of the run that has been sent */
  readonly reportsAt: (sent: number) => ReportShares;
};

/** Recipients by group, cumulative. */
export type GroupCounts = Readonly<
  Record<'sent' | 'accepted' | 'rejected' | 'unknown' | 'delivered' | 'undelivered', number[]>
>;

type Outcome = 'delivered' | 'undelivered';

export type SimulatedRun = {
  readonly counts: GroupCounts;
  /** Requests, cumulative; with fractions. */
  readonly requests: Record<'settled' | 'rejected' | 'unknown', number>;
  /** Sends from the lots between two moments (milliseconds), and counts the reports that come until the later one. */
  readonly advance: (lots: readonly Lot[], from: number, until: number) => void;
  /** Counts the reports that come until then. */
  readonly receiveReports: (until: number) => void;
};

/** Reports of so many milliseconds arrive together. */
const reportTick = 1_000;

/** A run that is sent in simulated time, in counts. Its service answers and reports as the model says. */
export function simulateRun(
  groups: readonly Group[],
  { recipients: total, speed }: { readonly recipients: number; readonly speed: Speed },
  model: ServiceModel,
  random: Random,
): SimulatedRun {
  const none = (): number[] => groups.map(() => 0);
  const counts: GroupCounts = {
    sent: none(),
    accepted: none(),
    rejected: none(),
    unknown: none(),
    delivered: none(),
    undelivered: none(),
  };
  const requests = { settled: 0, rejected: 0, unknown: 0 };
  const due = new Map<number, Readonly<Record<Outcome, number[]>>>();

  const report = (outcome: Outcome, group: number, recipients: number, from: number): void => {
    let left = recipients;
    for (const [index, delay] of model.reportDelays.entries()) {
      const some = drawEvents(random, left, 1 / (model.reportDelays.length - index));
      left -= some;
      if (some === 0) continue;
      const at = Math.floor((from + delay) / reportTick);
      const then = due.get(at) ?? { delivered: none(), undelivered: none() };
      due.set(at, then);
      add(then[outcome], group, some);
    }
  };

  const answer = ({ chunk, sendAt }: Lot, group: number, recipients: number, at: number): void => {
    const rejected = drawEvents(random, recipients, model.rejected);
    const unknown = drawEvents(random, recipients - rejected, model.unknown / (1 - model.rejected));
    const accepted = recipients - rejected - unknown;
    const shares = groups[group]?.reportsAt(sum(counts.sent) / total) ?? model.reports;
    const delivered = drawEvents(random, accepted, shares.delivered);
    const undelivered = drawEvents(random, accepted - delivered, shares.undelivered / (1 - shares.delivered));
    add(counts.sent, group, recipients);
    add(counts.accepted, group, accepted);
    add(counts.rejected, group, rejected);
    add(counts.unknown, group, unknown);
    requests.settled += recipients / chunk;
    requests.rejected += rejected / chunk;
    requests.unknown += unknown / chunk;
    const from = Math.max(at + model.answerAfter, sendAt?.getTime() ?? 0);
    report('delivered', group, delivered, from);
    report('undelivered', group, undelivered, from);
  };

  const receiveReports = (until: number): void => {
    for (const [at, then] of due) {
      if (at * reportTick > until) continue;
      due.delete(at);
      for (const outcome of ['delivered', 'undelivered'] as const)
        for (const [group, some] of then[outcome].entries()) add(counts[outcome], group, some);
    }
  };

  return {
    counts,
    requests,
    receiveReports,
    advance: (lots, from, until) => {
      const sent = sendFrom(lots, { now: from, seconds: (until - from) / 1_000, speed }, random);
      for (const { lot, recipients } of sent)
        for (const [group, some] of recipients.entries()) if (some > 0) answer(lot, group, some, until);
      receiveReports(until);
    },
  };
}

function add(counts: number[], group: number, some: number): void {
  counts[group] = (counts[group] ?? 0) + some;
}

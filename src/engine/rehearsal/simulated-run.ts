import type { WindowGate } from '../../campaign/window.ts';
import { drawEvents, type Random } from '../../platform/seeded-random.ts';
import type { KnownService, Service } from './service.ts';

/** Recipients of a destination, in the canary or after it. */
export type Group = {
  readonly destination: string;
  readonly isCanary: boolean;
  /** The share of those with a report; `sent` is the share of the run that has been sent. */
  readonly undeliveredAt: (sent: number) => number;
  /** What has become of them. */
  readonly counts: Counts;
};

/** Recipients, cumulative. */
export type Counts = Record<
  'sent' | 'accepted' | 'rejected' | 'unknown' | 'delivered' | 'undelivered',
  number
>;

export function noCounts(): Counts {
  return { sent: 0, accepted: 0, rejected: 0, unknown: 0, delivered: 0, undelivered: 0 };
}

/** Recipients that are sent to in the same windows and the same stage of a run. */
export type Lot = {
  readonly isCanary: boolean;
  /** Undefined: no window. */
  readonly gate: WindowGate | undefined;
  /** When the service sends requests handed over earlier; null: at once. */
  readonly sendAt: Date | null;
  /** Recipients that are not sent to. */
  readonly left: Map<Group, number>;
};

export type SimulatedRun = {
  readonly counts: Readonly<Counts>;
  /** Sends from the first of these lots between two moments (milliseconds), and counts the reports that come until then. */
  readonly advance: (lots: readonly Lot[], from: number, until: number) => void;
  readonly receiveAllReports: () => void;
};

/** Normal deviates of 5 %, 15 %, … 95 %. */
const deviates = [-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645];

/** Quantiles of a lognormal distribution, which reports of messages come near. */
function delaysOf({ half, most }: Service['reportAfter']): readonly number[] {
  const spread = Math.log(Math.max(1, most) / Math.max(1, half)) / 1.645;
  return deviates.map((deviate) => Math.round(Math.max(1, half) * Math.exp(deviate * spread)));
}

/** A run that is sent in simulated time, in counts. Its service answers and reports as stated. */
export function simulateRun(
  {
    begin,
    recipients,
    perSecond,
  }: { readonly begin: Date; readonly recipients: number; readonly perSecond: number },
  { answerAfter, rejected, unknown, unreported, reportAfter }: KnownService,
  random: Random,
): SimulatedRun {
  const counts = noCounts();
  const delays = delaysOf(reportAfter.value);
  /** By the second in which they come. */
  const reports = new Map<number, { group: Group; outcome: 'delivered' | 'undelivered'; some: number }[]>();
  let received = Math.floor(begin.getTime() / 1_000);
  let last = 0;

  const count = (group: Group, what: keyof Counts, some: number): void => {
    group.counts[what] += some;
    counts[what] += some;
  };

  const report = (group: Group, outcome: 'delivered' | 'undelivered', total: number, from: number): void => {
    let left = total;
    for (const [index, delay] of delays.entries()) {
      const some = drawEvents(random, left, 1 / (delays.length - index));
      left -= some;
      if (some === 0) continue;
      const second = Math.ceil((from + delay) / 1_000);
      last = Math.max(last, second);
      const arriving = reports.get(second) ?? [];
      reports.set(second, arriving);
      arriving.push({ group, outcome, some });
    }
  };

  const answer = (group: Group, sent: number, from: number): void => {
    const refused = drawEvents(random, sent, rejected.value);
    const inDoubt = drawEvents(random, sent - refused, unknown.value);
    const accepted = sent - refused - inDoubt;
    const reported = accepted - drawEvents(random, accepted, unreported.value);
    const undelivered = drawEvents(random, reported, group.undeliveredAt(counts.sent / recipients));
    count(group, 'sent', sent);
    count(group, 'accepted', accepted);
    count(group, 'rejected', refused);
    count(group, 'unknown', inDoubt);
    report(group, 'undelivered', undelivered, from);
    report(group, 'delivered', reported - undelivered, from);
  };

  const receive = (until: number): void => {
    for (; received < until; received++) {
      for (const { group, outcome, some } of reports.get(received + 1) ?? []) count(group, outcome, some);
      reports.delete(received + 1);
    }
  };

  return {
    counts,
    advance: (lots, from, until) => {
      // A fraction of a recipient is drawn.
      let most = Math.floor((perSecond * (until - from)) / 1_000 + random());
      for (const lot of lots) {
        if (most <= 0) break;
        if (!isOpen(lot, from)) continue;
        const some = Math.min(leftIn([lot]), most);
        const reportsFrom = Math.max(until + answerAfter.value, lot.sendAt?.getTime() ?? 0);
        for (const [group, sent] of takeFrom(lot, some, random)) answer(group, sent, reportsFrom);
        most -= some;
      }
      receive(Math.floor(until / 1_000));
    },
    receiveAllReports: () => receive(last),
  };
}

/** From each group its part, rounded up or down (systematic sampling). */
function takeFrom({ left }: Lot, recipients: number, random: Random): readonly (readonly [Group, number])[] {
  const all = sum(left.values());
  let before = random();
  return [...left].flatMap(([group, size]) => {
    const after = before + (size * recipients) / Math.max(1, all);
    const taken = Math.min(size, Math.floor(after) - Math.floor(before));
    before = after;
    left.set(group, size - taken);
    return taken === 0 ? [] : [[group, taken] as const];
  });
}

export function leftIn(lots: readonly Lot[]): number {
  return sum(lots.map(({ left }) => sum(left.values())));
}

export function isOpen({ gate }: Lot, now: number): boolean {
  return gate?.isOpen(new Date(now)) ?? true;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const each of numbers) total += each;
  return total;
}

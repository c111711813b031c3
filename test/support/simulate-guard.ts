import { type GuardSettings, type GuardState, lookAtGuard } from '../../src/decisions/guard.ts';
import type { DestinationCounts, Usual } from '../../src/decisions/undelivered.ts';
import type { GuardRecord } from '../../src/domain/decisions.ts';
import { type Random, seededRandom } from '../../src/platform/seeded-random.ts';

/** A destination with its part of the run. */
export type SimulatedDestination = { readonly name: string; readonly part: number };

/** Looks until the report of a recipient comes. */
export type ReportDelays = {
  readonly delivered: (random: Random) => number;
  readonly undelivered: (random: Random) => number;
};

export type SimulatedCampaign = {
  readonly seed: number;
  readonly recipients: number;
  readonly destinations: readonly SimulatedDestination[];
  /** The true share at a destination, of the recipient that is sent next. */
  readonly undelivered: (destination: string, sent: number) => number;
  readonly delays: ReportDelays;
  readonly settings: GuardSettings;
  readonly usual: Usual | undefined;
  /** Recipients that are sent between two looks. */
  readonly perLook: number;
};

const none = { sent: 0, delivered: 0, undelivered: 0 };

/** Plays the dispatch of a campaign. @returns what the guard found, and after how many recipients; undefined: nothing */
export function simulateGuard(
  campaign: SimulatedCampaign,
): { readonly sent: number; readonly finding: GuardRecord } | undefined {
  const { seed, recipients, destinations, undelivered, delays, settings, usual, perLook } = campaign;
  const random = seededRandom(seed);
  const counts = new Map(destinations.map(({ name }) => [name, { ...none }]));
  const arriving: (readonly [destination: string, outcome: 'delivered' | 'undelivered'])[][] = [];
  let state: GuardState | undefined;
  let sent = 0;
  for (let look = 0; sent < recipients; look++) {
    for (let each = 0; each < perLook && sent < recipients; each++, sent++) {
      const destination = pick(destinations, random());
      const outcome = random() < undelivered(destination, sent) ? 'undelivered' : 'delivered';
      const at = look + Math.floor(delays[outcome](random));
      arriving[at] = [...(arriving[at] ?? []), [destination, outcome]];
      const of = counts.get(destination);
      if (of) of.sent++;
    }
    for (const [destination, outcome] of arriving[look] ?? []) {
      const of = counts.get(destination);
      if (of) of[outcome]++;
    }
    const found = lookAtGuard(settings, countsOf(counts, recipients), usual, state);
    if (found.finding) return { sent, finding: found.finding };
    state = found.state;
  }
  return undefined;
}

function pick(destinations: readonly SimulatedDestination[], choice: number): string {
  let left = choice;
  for (const { name, part } of destinations) {
    left -= part;
    if (left < 0) return name;
  }
  return destinations.at(-1)?.name ?? '';
}

function countsOf(counts: ReadonlyMap<string, typeof none>, planned: number) {
  const destinations = [...counts].map(
    ([destination, of]): DestinationCounts => ({ destination, isCanary: false, ...of }),
  );
  const sum = (key: keyof typeof none): number => destinations.reduce((total, each) => total + each[key], 0);
  return {
    isResumed: false,
    planned,
    lookMs: 1_000,
    settled: sum('sent'),
    rejected: 0,
    unknown: 0,
    accepted: sum('sent'),
    reported: sum('delivered') + sum('undelivered'),
    otherPrices: 0,
    destinations,
  };
}

/** How reports come. */
export const reportDelays: Readonly<Record<string, ReportDelays>> = {
  'at once': { delivered: () => 0, undelivered: () => 0 },
  'undelivered first': { delivered: (random) => 5 + random() * 20, undelivered: () => 0 },
  'delivered first': { delivered: () => 0, undelivered: (random) => 5 + random() * 40 },
  'in bursts': {
    delivered: (random) => Math.floor(random() * 3) * 15,
    undelivered: (random) => Math.floor(random() * 2) * 30,
  },
};

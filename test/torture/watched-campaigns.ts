import { type CanarySettings, decideCanary } from '../../src/decisions/canary.ts';
import {
  type GuardCounts,
  type GuardSettings,
  type GuardState,
  lookAtGuard,
} from '../../src/decisions/guard.ts';
import type { DestinationCounts, Usual } from '../../src/decisions/undelivered.ts';
import type { DecisionKind } from '../../src/domain/decisions.ts';
import { type Random, seededRandom } from '../../src/platform/seeded-random.ts';

/** Campaigns recipient by recipient, watched by the functions that decide about runs. */

export const recipients = 100_000;
const canarySize = 2_000;

/** The destinations of a campaign, with their shares of the recipients. */
export const destinations = [
  { name: '+61411', share: 0.4 },
  { name: '+61412', share: 0.3 },
  { name: '+61413', share: 0.15 },
  { name: '+61414', share: 0.1 },
  { name: '+61415', share: 0.05 },
] as const;

export type World = {
  readonly perSecond: number;
  /** Seconds between two looks. */
  readonly look: number;
  /** The share of accepted recipients that is undelivered; of the others, one in 200 has no report. */
  readonly undelivered: (destination: number, sent: number) => number;
  /** Seconds after it is sent at which a report comes, of recipients sent at this second. */
  readonly delay: (outcome: 'delivered' | 'undelivered', random: Random, second: number) => number;
};

export type Ending = {
  readonly kind: 'canary aborted' | 'guard stopped' | 'completed';
  readonly sent: number;
};

const usualShares: Usual = {
  source: 'campaign',
  whole: { events: 7_500, trials: 500_000 },
  at: Object.fromEntries(
    destinations.map(({ name, share }) => [name, { events: 7_500 * share, trials: 500_000 * share }]),
  ),
};

export const guard: GuardSettings = {
  undelivered: { above: undefined, usual: true },
  rejected: 0.02,
  unknown: 0.02,
  first: 20,
  action: 'pause',
};

export const canary: CanarySettings = {
  observe: 30 * 60_000,
  promote: 'auto',
  abort: { rejected: 0.02, undelivered: 0.1, unreported: 0.5 },
};

type MutableCounts = { -readonly [Key in keyof DestinationCounts]: DestinationCounts[Key] };

/** Reports by look and destination, of a part of a campaign. */
type Part = { readonly sent: number[][]; readonly delivered: number[][]; readonly undelivered: number[][] };

/** Sends recipients one after the other, and lets each have at most one report: a second one is not applied. */
function send(
  world: World,
  { first, last }: { readonly first: number; readonly last: number },
  random: Random,
): Part {
  const part: Part = { sent: [], delivered: [], undelivered: [] };
  const count = (counts: number[][], look: number, destination: number): void => {
    counts[look] ??= destinations.map(() => 0);
    const row = counts[look];
    row[destination] = (row[destination] ?? 0) + 1;
  };
  for (let index = first; index < last; index++) {
    const second = (index - first) / world.perSecond;
    const destination = drawDestination(random());
    count(part.sent, Math.floor(second / world.look), destination);
    const isUndelivered = random() < world.undelivered(destination, index);
    if (!isUndelivered && random() < 0.005) continue;
    const outcome = isUndelivered ? 'undelivered' : 'delivered';
    count(
      part[outcome],
      Math.floor((second + world.delay(outcome, random, second)) / world.look),
      destination,
    );
  }
  return part;
}

function drawDestination(drawn: number): number {
  let left = drawn;
  for (const [index, { share }] of destinations.entries()) {
    if (left < share) return index;
    left -= share;
  }
  return destinations.length - 1;
}

/** Plays one campaign: a canary of 2 % if it has one, then the rest under the guard. */
export function play(world: World, seed: number, withCanary: boolean): Ending {
  const random = seededRandom(seed);
  const parts: {
    readonly isCanary: boolean;
    readonly part: Part;
    readonly begin: number;
    readonly counts: MutableCounts[];
  }[] = [];
  const addPart = (isCanary: boolean, first: number, last: number, begin: number): void => {
    const counts = destinations.map(({ name }) => ({
      destination: name,
      isCanary,
      sent: 0,
      delivered: 0,
      undelivered: 0,
    }));
    parts.push({ isCanary, part: send(world, { first, last }, random), begin, counts });
  };
  if (withCanary) addPart(true, 0, canarySize, 0);
  else addPart(false, 0, recipients, 0);
  let state: GuardState | undefined;
  let eventsBefore = 0;
  for (let look = 0; ; look++) {
    for (const { part, begin, counts } of parts) addLook(counts, part, look - begin);
    const counts = parts.flatMap((each) => each.counts);
    const sent = total(counts, 'sent');
    const waits = withCanary && parts.length === 1;
    if (waits) {
      const decided = watchCanary(counts, look * world.look, canarySize / world.perSecond);
      if (decided === 'canary aborted') return { kind: decided, sent };
      if (decided === 'canary promoted') addPart(false, canarySize, recipients, look + 1);
    }
    // A look that finds nothing new decides as the one before.
    const events = sent + total(counts, 'delivered') + total(counts, 'undelivered');
    if (events === eventsBefore) continue;
    eventsBefore = events;
    const found = lookAtGuard(guard, guardCounts(counts, world.look), usualShares, state);
    if (found.finding) return { kind: 'guard stopped', sent };
    state = found.state;
    if (sent === recipients) return { kind: 'completed', sent };
  }
}

type Counted = 'sent' | 'delivered' | 'undelivered';

function addLook(counts: MutableCounts[], part: Part, look: number): void {
  for (const key of ['sent', 'delivered', 'undelivered'] as const)
    for (const [index, added] of (part[key][look] ?? []).entries()) {
      const at = counts[index];
      if (at) at[key] += added;
    }
}

const total = (counts: readonly DestinationCounts[], key: Counted): number =>
  counts.reduce((sum, each) => sum + each[key], 0);

function watchCanary(
  counts: readonly DestinationCounts[],
  seconds: number,
  sentAfter: number,
): DecisionKind | undefined {
  const [sent, delivered, undelivered] = [
    total(counts, 'sent'),
    total(counts, 'delivered'),
    total(counts, 'undelivered'),
  ];
  return decideCanary(
    canary,
    {
      isSent: sent === canarySize,
      requests: { settled: sent, rejected: 0 },
      recipients: {
        accepted: sent - delivered - undelivered,
        delivered,
        undelivered,
        rejected: 0,
        failed: 0,
        unknown: 0,
      },
    },
    Math.max(0, seconds - sentAfter) * 1_000,
  )?.kind;
}

function guardCounts(counts: readonly DestinationCounts[], seconds: number): GuardCounts {
  const sent = total(counts, 'sent');
  return {
    planned: recipients,
    isResumed: false,
    lookMs: seconds * 1_000,
    settled: sent,
    rejected: 0,
    unknown: 0,
    accepted: sent,
    reported: total(counts, 'delivered') + total(counts, 'undelivered'),
    otherPrices: 0,
    destinations: counts,
  };
}

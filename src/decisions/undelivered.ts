import { z } from 'zod';
import type { GuardBasis } from '../domain/watch-reasons.ts';
import { type Counts, driftThreshold, lookForDrift, type OpenCounts, storedCounts } from './evidence.ts';

/** At how many undelivered recipients a run stops. */
export type UndeliveredSettings = {
  /** Above this share; undefined: only by what is usual. */
  readonly above?: number | undefined;
  /** Above what is usual, in its canary or in former runs. */
  readonly usual: boolean;
};

/** Recipients of a destination, or of all small ones together (''). */
export type DestinationCounts = {
  readonly destination: string;
  readonly isCanary: boolean;
  /** With those that have no answer or report yet. */
  readonly sent: number;
  readonly delivered: number;
  readonly undelivered: number;
};

/** Undelivered recipients (`events`) of those with a delivery report (`trials`) in runs before. */
export type Usual = {
  readonly source: Extract<GuardBasis, 'campaign' | 'account'>;
  readonly whole: Counts;
  /** By destination, as far as former runs have counted them. */
  readonly at: Readonly<Record<string, Counts>>;
};

/** The share that is allowed at a destination, and why. */
export type AllowedShare = {
  readonly limit: number;
  readonly basis: GuardBasis;
  /** Null: `basis` is the limit. */
  readonly usual: number | null;
};

/** What the looks keep, by destination. */
export const undeliveredState = z
  .object({
    drifts: z.record(
      z.string(),
      z.object({ limit: z.number(), starts: z.array(storedCounts).readonly() }).readonly(),
    ),
    /** Of the canary, when the rest of the run began; a recipient without a report counts as undelivered. */
    canary: z.record(z.string(), storedCounts).optional(),
  })
  .readonly();
type UndeliveredState = z.output<typeof undeliveredState>;

export type TooManyUndelivered = AllowedShare & {
  /** '': all small ones together; null: the whole run. */
  readonly destination: string | null;
  readonly since: Counts;
  readonly evidence: number;
  readonly needed: number;
};

/** The name of the whole run among its destinations. */
const wholeRun = '*';

/** Fewer reports of a destination do not say what is usual there. */
const fewestReports = 50;

/** With a larger limit, a test could find nothing. */
const highestLimit = 0.9;

/**
 * Looks whether more recipients are undelivered than allowed, at each destination and in the whole run.
 *
 * Nothing is assumed of the order of reports: a recipient without one counts as delivered, so reports that come late, in
 * bursts, twice or the undelivered ones first only delay the finding (`lookForDrift`).
 *
 * @param isRestart nothing that happened before this look counts
 */
export function lookAtUndelivered(
  settings: UndeliveredSettings,
  found: { readonly counts: readonly DestinationCounts[]; readonly planned: number; readonly alpha: number },
  usual: Usual | undefined,
  { before, isRestart }: { readonly before: UndeliveredState | undefined; readonly isRestart: boolean },
): { readonly state: UndeliveredState; readonly worst: TooManyUndelivered | undefined } {
  const canary = before?.canary ?? canaryAsBasis(found.counts);
  // Each recipient is in its destination and in the whole run.
  const needed = driftThreshold(2 * found.planned, found.alpha);
  const drifts: Record<string, UndeliveredState['drifts'][string]> = {};
  const above: TooManyUndelivered[] = [];
  for (const [name, counts] of sumByDestination(found.counts)) {
    const allowed = allowedShare(settings, name, usual, canary);
    if (!allowed) continue;
    const { limit } = allowed;
    const kept = before?.drifts[name];
    // Without starts, it begins here.
    const previous = isRestart ? { starts: [] } : kept?.limit === limit ? kept : undefined;
    const { drift, evidence, since } = lookForDrift(previous, counts, { limit, threshold: needed });
    drifts[name] = { limit, ...drift };
    if (isRestart || evidence < needed) continue;
    above.push({ ...allowed, destination: name === wholeRun ? null : name, since, evidence, needed });
  }
  const [worst] = above.toSorted(
    (one, other) =>
      // A destination says more than the run.
      Number(one.destination === null) - Number(other.destination === null) || other.evidence - one.evidence,
  );
  return { state: { drifts, canary }, worst };
}

function sumByDestination(counts: readonly DestinationCounts[]): ReadonlyMap<string, OpenCounts> {
  const sums = new Map<string, OpenCounts>();
  const add = (name: string, { sent, delivered, undelivered }: DestinationCounts): void => {
    const { events, trials, open } = sums.get(name) ?? { events: 0, trials: 0, open: 0 };
    sums.set(name, {
      events: events + undelivered,
      // A report can come before the look that counts its request as sent.
      trials: trials + Math.max(sent, delivered + undelivered),
      open: open + Math.max(0, sent - delivered - undelivered),
    });
  };
  for (const each of counts) {
    add(each.destination, each);
    add(wholeRun, each);
  }
  return sums;
}

/** @returns undefined until the rest of the run is sent */
function canaryAsBasis(counts: readonly DestinationCounts[]): UndeliveredState['canary'] {
  const ofCanary = counts.filter(({ isCanary }) => isCanary);
  if (ofCanary.length === 0 || !counts.some(({ isCanary, sent }) => !isCanary && sent > 0)) return undefined;
  const sums = [...sumByDestination(ofCanary)];
  return Object.fromEntries(
    sums.map(([name, { events, trials, open }]) => [name, { events: events + open, trials }]),
  );
}

/** The lowest of what the campaign, the canary and the former runs allow at a destination. */
export function allowedShare(
  { above, usual: byUsual }: UndeliveredSettings,
  name: string | null,
  usual: Usual | undefined,
  canary?: UndeliveredState['canary'],
): AllowedShare | undefined {
  const key = name ?? wholeRun;
  const shares: AllowedShare[] = above === undefined ? [] : [{ limit: above, basis: 'limit', usual: null }];
  const ofCanary = canary?.[key];
  if (byUsual && ofCanary) shares.push(allowedBy('canary', ofCanary));
  const before = usualAt(usual, key);
  if (byUsual && usual && before) shares.push(allowedBy(usual.source, before));
  return shares
    .filter(({ limit }) => limit <= highestLimit)
    .toSorted((one, other) => one.limit - other.limit)[0];
}

/** Small destinations are others in each run, so only the sum of all says what is usual there. */
function usualAt(usual: Usual | undefined, name: string): Counts | undefined {
  const counts = name === wholeRun ? usual?.whole : name === '' ? undefined : usual?.at[name];
  return counts && counts.trials >= fewestReports ? counts : undefined;
}

/**
 * Half as much again as what may be usual, at least two percentage points more: nights differ by more than chance. What
 * may be usual is three standard errors above what was counted.
 */
function allowedBy(basis: GuardBasis, { events, trials }: Counts): AllowedShare {
  const share = (events + 1) / (trials + 2);
  const highest = share + 3 * Math.sqrt((share * (1 - share)) / (trials + 2));
  return { limit: Math.max(1.5 * highest, highest + 0.02), basis, usual: events / trials };
}

import { z } from 'zod';
import type { GuardRecord, GuardTest } from '../domain/decisions.ts';
import type { FailFastReason } from '../domain/watch-reasons.ts';
import { type Counts, evidenceAbove, evidenceNeeded } from './evidence.ts';
import {
  type DestinationCounts,
  lookAtUndelivered,
  type UndeliveredSettings,
  type Usual,
  undeliveredState,
} from './undelivered.ts';

/** When a run stops by itself, as frozen with it. Shares are from 0 to 1. */
export type GuardSettings = {
  readonly undelivered?: UndeliveredSettings | undefined;
  /** Milliseconds without any delivery report while some are due. */
  readonly silence?: number | undefined;
  readonly price?: 'rate card' | undefined;
  /** Shares of requests. */
  readonly rejected?: number | undefined;
  readonly unknown?: number | undefined;
  /** Fewer settled requests decide nothing about rejected and unknown ones. */
  readonly first: number;
  readonly action: 'pause' | 'warn';
};

/** What a look finds, cumulative since the run began. */
export type GuardCounts = {
  /** Whether the run was resumed after it had begun to be sent. */
  readonly isResumed: boolean;
  /** Recipients of the whole run. */
  readonly planned: number;
  /** Milliseconds since the look before, as far as they count. */
  readonly lookMs: number;
  /** Requests. */
  readonly settled: number;
  readonly rejected: number;
  readonly unknown: number;
  /** Recipients. */
  readonly accepted: number;
  readonly reported: number;
  readonly otherPrices: number;
  readonly destinations: readonly DestinationCounts[];
};

/** What the looks keep. */
export const guardState = z
  .object({
    undelivered: undeliveredState.optional(),
    /** The counts at the last report, and for how long enough reports have been due (milliseconds). */
    quiet: z.object({ accepted: z.number(), reported: z.number(), dueMs: z.number() }).readonly(),
    /** The counts at the last resume. */
    from: z
      .object({
        settled: z.number(),
        rejected: z.number(),
        unknown: z.number(),
        otherPrices: z.number(),
        sent: z.number(),
      })
      .readonly(),
    /** Kinds of reasons that it has warned of. */
    warned: z.array(z.string()).readonly(),
  })
  .readonly();
export type GuardState = z.output<typeof guardState>;

/** In at most this share of healthy runs, the tests of a guard together stop the run or warn. */
export const guardErrorRate = 0.01;

/** Of undelivered recipients, prices, rejected requests and unknown ones. */
const tests = 4;
const alpha = guardErrorRate / tests;

/** More prices than this share must be other ones: a single mistake of the service stops no run. */
const otherPricesAllowed = 0.01;

/** Some recipients never get a report, so fewer than this are not awaited. */
const fewestDue = 20;

/**
 * Decides whether a run goes on.
 *
 * @param usual undefined: nothing is known of former runs
 * @param before what the look before kept; undefined: the first look since the run began or was resumed. What happened
 *   before a resume does not count, so the same evidence does not stop the run again
 * @returns the first finding, but a warning once
 */
export function lookAtGuard(
  settings: GuardSettings,
  counts: GuardCounts,
  usual: Usual | undefined,
  before: GuardState | undefined,
): { readonly finding: GuardRecord | undefined; readonly state: GuardState } {
  const { planned, destinations } = counts;
  const { quiet, from, warned } = before ?? beginAt(counts);
  const undelivered =
    settings.undelivered &&
    lookAtUndelivered(settings.undelivered, { counts: destinations, planned, alpha }, usual, {
      before: before?.undelivered,
      isRestart: before === undefined && counts.isResumed,
    });
  const awaited = waitForReports(counts, quiet);
  const findings = [
    describeUndelivered(undelivered?.worst),
    findSilence(settings, counts, awaited),
    ...findShares(settings, counts, from),
  ].filter((each) => each !== undefined);
  const finding = findings.find(({ reason }) => !warned.includes(reason.kind));
  return {
    finding,
    state: {
      undelivered: undelivered?.state,
      quiet: awaited,
      from,
      warned: finding ? [...warned, finding.reason.kind] : warned,
    },
  };
}

const nothing: GuardState['from'] = { settled: 0, rejected: 0, unknown: 0, otherPrices: 0, sent: 0 };

function beginAt(counts: GuardCounts): GuardState {
  const { isResumed, accepted, reported, settled, rejected, unknown, otherPrices } = counts;
  return {
    quiet: { accepted, reported, dueMs: 0 },
    from: isResumed ? { settled, rejected, unknown, otherPrices, sent: countSent(counts) } : nothing,
    warned: [],
  };
}

function countSent({ destinations }: GuardCounts): number {
  return destinations.reduce((sum, { sent }) => sum + sent, 0);
}

function describeUndelivered(worst: ReturnType<typeof lookAtUndelivered>['worst']): GuardRecord | undefined {
  if (!worst) return undefined;
  const { since, evidence, needed, ...found } = worst;
  const { events: recipients, trials: of } = since;
  return {
    reason: { kind: 'guard_undelivered', ...found, recipients, of, errorRate: guardErrorRate },
    test: { name: 'CUSUM of likelihood ratios', evidence, needed, errorRate: guardErrorRate },
  };
}

/** Reports are due when enough recipients were accepted since the last one. */
function waitForReports(
  { accepted, reported, lookMs }: GuardCounts,
  quiet: GuardState['quiet'],
): GuardState['quiet'] {
  if (reported !== quiet.reported) return { accepted, reported, dueMs: 0 };
  return accepted - quiet.accepted < fewestDue ? quiet : { ...quiet, dueMs: quiet.dueMs + lookMs };
}

function findSilence(
  { silence }: GuardSettings,
  { accepted }: GuardCounts,
  { dueMs, ...at }: GuardState['quiet'],
): GuardRecord | undefined {
  if (silence === undefined || dueMs < silence) return undefined;
  const recipients = accepted - at.accepted;
  return { reason: { kind: 'guard_silent', milliseconds: silence, recipients }, test: null };
}

function findShares(settings: GuardSettings, counts: GuardCounts, from: GuardState['from']): GuardRecord[] {
  const { price, rejected, unknown, first } = settings;
  const found: GuardRecord[] = [];
  const sent = countSent(counts) - from.sent;
  const prices = { events: Math.min(counts.otherPrices - from.otherPrices, sent), trials: sent };
  const byPrice = price && testAbove(otherPricesAllowed, prices);
  if (byPrice) {
    const { events: recipients, trials: of } = prices;
    found.push({
      reason: { kind: 'guard_price', recipients, of, ...limited(otherPricesAllowed) },
      test: byPrice,
    });
  }
  const of = counts.settled - from.settled;
  for (const [kind, limit, requests] of [
    ['guard_rejected', rejected, counts.rejected - from.rejected],
    ['guard_unknown', unknown, counts.unknown - from.unknown],
  ] as const) {
    if (limit === undefined || of < first) continue;
    const test = testAbove(limit, { events: Math.min(requests, of), trials: of });
    if (test) found.push({ reason: { kind, requests, of, ...limited(limit) }, test });
  }
  return found;
}

const limited = (limit: number) => ({ limit, errorRate: guardErrorRate });

function testAbove(limit: number, counts: Counts): GuardTest | undefined {
  if (counts.events <= 0) return undefined;
  const [evidence, needed] = [evidenceAbove(limit, counts), evidenceNeeded(alpha)];
  if (evidence < needed) return undefined;
  return { name: 'mixture of likelihood ratios', evidence, needed, errorRate: guardErrorRate };
}

/** The older part of the guard (`dispatch.failFast`), without a test. */
export type FailFast = { readonly first: number; readonly share?: number | undefined };

/**
 * Decides by the requests that were answered since the last resume.
 *
 * @param total requests that will be answered
 * @returns undefined if the run goes on
 */
export function failFastReason(
  { first, share }: FailFast,
  { settled, rejected }: Pick<GuardCounts, 'settled' | 'rejected'>,
  total: number,
): Exclude<FailFastReason, { kind: 'foreign_answers' }> | undefined {
  if (settled < Math.min(first, total) || rejected === 0) return undefined;
  if (rejected === settled) return { kind: 'all_rejected', requests: settled };
  if (share === undefined || rejected <= share * settled) return undefined;
  return { kind: 'too_many_rejected', rejected, requests: settled, share };
}

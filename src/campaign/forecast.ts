import type { RateLimits } from '../domain/rate-limits.ts';
import { stateAt, type WindowRule } from './window.ts';

/**
 * Forecasts when a run ends at its rate limits, if nothing else is sent through its account. Pure; times are
 * estimates.
 */

export type ForecastPortion = {
  /** Empty: no window. */
  readonly zones: readonly string[];
  readonly requests: number;
  readonly recipients: number;
  /** When the service sends requests handed over earlier; null: at once. */
  readonly sendAt: Date | null;
};

export type Forecast = {
  readonly endsAt: Date;
  /** For each portion, the recipients sent after the deadline: those in the last requests. */
  readonly late: readonly number[];
};

type PortionProgress = ForecastPortion & {
  /** Milliseconds still to go, and in total. */
  remaining: number;
  readonly duration: number;
  /** The share of it sent in time. */
  inTime: number;
  open: boolean;
  until: number;
};

/**
 * Simulates the dispatch from event to event. Of the portions with open windows, the one that closes first is sent
 * first, as in `ledger/slices/enqueue.ts`.
 *
 * @param rule the window of portions that have zones
 * @returns undefined if a window never opens
 */
export function forecast(
  portions: readonly ForecastPortion[],
  rule: WindowRule | undefined,
  limits: RateLimits,
  { from, deadline }: { readonly from: Date; readonly deadline: Date | undefined },
): Forecast | undefined {
  const latest = deadline?.getTime() ?? Number.POSITIVE_INFINITY;
  const all = portions.map((portion): PortionProgress => {
    const duration = millisecondsOf(portion, limits);
    return {
      ...portion,
      remaining: duration,
      duration,
      inTime: 0,
      open: false,
      until: Number.NEGATIVE_INFINITY,
    };
  });
  let endsAt = from.getTime();
  let unfinished: readonly PortionProgress[] = all.filter(({ requests }) => requests > 0);
  for (let now = from.getTime(); unfinished.length > 0; ) {
    for (const portion of unfinished) if (portion.until <= now) updateWindow(portion, rule, now);
    const [first] = unfinished
      .filter(({ open }) => open)
      .sort((one, other) => (one.until === other.until ? 0 : one.until - other.until));
    const nextChange = Math.min(...unfinished.map(({ until }) => until));
    if (!first && nextChange === Number.POSITIVE_INFINITY) return undefined;
    if (!first) {
      now = nextChange;
      continue;
    }
    const done = Math.min(now + first.remaining, nextChange);
    const sentAt = Math.max(done, first.sendAt?.getTime() ?? done);
    first.inTime += shareInTime(first, now, done, latest);
    endsAt = Math.max(endsAt, sentAt);
    // Ends a remainder too short to change a number of this size.
    first.remaining = now + first.remaining <= nextChange ? 0 : first.remaining - (done - now);
    now = done;
    unfinished = unfinished.filter((portion) => portion !== first || portion.remaining > 0);
  }
  return {
    endsAt: new Date(endsAt),
    late: all.map(
      ({ recipients, inTime }) => recipients - Math.floor(recipients * Math.min(1, inTime + 1e-9)),
    ),
  };
}

function updateWindow(portion: PortionProgress, rule: WindowRule | undefined, now: number): void {
  const { zones, sendAt } = portion;
  if (sendAt !== null && now < sendAt.getTime()) {
    portion.open = true;
    portion.until = sendAt.getTime();
    return;
  }
  const state = rule && zones.length > 0 ? stateAt(rule, zones, new Date(now)) : { open: true, until: null };
  portion.open = state.open;
  portion.until = state.until?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** Share of the portion that is sent between two moments and before the deadline. */
function shareInTime(
  { sendAt, duration, remaining }: PortionProgress,
  from: number,
  until: number,
  last: number,
): number {
  if ((sendAt?.getTime() ?? from) > last || from > last) return 0;
  // Without a rate limit, sending takes no time.
  if (duration === 0) return 1;
  return Math.min(remaining, Math.min(until, last) - from) / duration;
}

function millisecondsOf({ requests, recipients }: ForecastPortion, limits: RateLimits): number {
  const { requestsPerSecond, recipientsPerSecond } = limits;
  return Math.max(
    requestsPerSecond === null ? 0 : (requests / requestsPerSecond) * 1_000,
    recipientsPerSecond === null ? 0 : (recipients / recipientsPerSecond) * 1_000,
  );
}

import type { RateLimits } from '../domain/rates.ts';
import { stateAt, type WindowRule } from './window.ts';

/** When a run would end at the rate that is set, if nothing else is sent through its account. Pure; times are estimates. */

/** What a run has for one window, or all of it where it has none. */
export type ForecastPortion = {
  /** None where it may be sent at any time. */
  readonly zones: readonly string[];
  readonly requests: number;
  readonly recipients: number;
  /** When the service sends what it is handed over before; null where it is told nothing. */
  readonly sendAt: Date | null;
};

export type Forecast = {
  /** When the last request is sent. */
  readonly endsAt: Date;
  /** Recipients who are sent to after the deadline, for each portion: those whose requests have the highest numbers. */
  readonly late: readonly number[];
};

type PortionProgress = ForecastPortion & {
  /** Milliseconds that it still takes, and that it takes as a whole. */
  remaining: number;
  readonly duration: number;
  /** The part of it that is sent in time. */
  inTime: number;
  open: boolean;
  until: number;
};

/**
 * Plays the dispatch through, from event to event: of the portions whose windows are open, the one that shuts first is sent
 * first, as by `ledger/slices/enqueue.ts`.
 *
 * @param rule of the windows of portions that have zones
 * @returns undefined where a window never opens
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
    // What is too short for a number of this size to grow by is over too.
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

/** Of what is sent of a portion between two moments, the part of the portion that is sent before the deadline. */
function shareInTime(
  { sendAt, duration, remaining }: PortionProgress,
  from: number,
  until: number,
  last: number,
): number {
  if ((sendAt?.getTime() ?? from) > last || from > last) return 0;
  // Without a rate it takes no time.
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

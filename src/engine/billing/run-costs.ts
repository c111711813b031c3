import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { RunState } from '../../domain/runs.ts';
import { type RunCosts, readRunCosts } from '../../ledger/billing/run-costs.ts';
import type { EngineContext } from '../context.ts';
import { bookRun } from './billing.ts';

/** What a run costs, as booked. */
export type BookedCosts = RunCosts & {
  /** What was committed before is in it. Undefined until the first booking. */
  readonly asOf: Date | undefined;
};

type ReadBookedCosts = (run: string, state: RunState, payers: number) => Promise<BookedCosts>;

/** Milliseconds. Booking also rests nine times as long as it took: sending comes first. */
const shortestRest = 1_000;
const restFactor = 9;

/** Milliseconds. A page that is open looks more often; another look waits for what is new. */
const longestOpen = 2_000;
const longestWait = { running: 60, other: 5_000 } as const;

type Booking = {
  state: RunState;
  lookedAt: number;
  dueAt: number;
  /** The one under way, or the last one. */
  latest: Promise<void> | undefined;
  asOf: Date | undefined;
};

/**
 * Reads the costs of runs for pages that show them, in some milliseconds: booking adds up what is new beside it, while a
 * page is open.
 */
export function createBookedCosts(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
): ReadBookedCosts {
  const { ledger, now, monotonic } = context;
  const bookings = new LRUCache<string, Booking>({ max: 500 });
  /** Runs are booked one after the other: one that waits for another process holds a connection. */
  let last = Promise.resolve();

  async function bookNow(run: string, booking: Booking): Promise<void> {
    const [asOf, began] = [now(), monotonic()];
    try {
      await bookRun(context, run);
      booking.asOf = asOf;
    } catch {
      // What is booked is shown; the page says how old it is.
    }
    const ended = monotonic();
    booking.dueAt = ended + Math.max(shortestRest, restFactor * (ended - began));
  }

  return async (run, state, payers) => {
    const at = monotonic();
    const known = bookings.get(run);
    const isOpen = known?.state === state && at - known.lookedAt < longestOpen;
    const booking = known ?? { state, lookedAt: at, dueAt: at, latest: undefined, asOf: undefined };
    bookings.set(run, booking);
    booking.state = state;
    booking.lookedAt = at;
    if (!isOpen || at >= booking.dueAt) {
      booking.dueAt = Number.POSITIVE_INFINITY;
      last = last.then(() => bookNow(run, booking));
      booking.latest = last;
    }
    if (!isOpen) {
      const wait = state === 'running' ? longestWait.running : longestWait.other;
      await Promise.race([booking.latest, sleep(wait, undefined, { ref: false })]);
    }
    return { ...(await readRunCosts(ledger.monitoring, run, payers)), asOf: booking.asOf };
  };
}

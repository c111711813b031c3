import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import type { EngineContext } from '../context.ts';

/**
 * A figure whose reading takes time: at most a three-hundredth of the time is spent on it. The shorter of the last two
 * readings counts, because the first one, and one on a busy machine, take far longer than others.
 */
export type PacedRead<Value> = {
  /** Undefined until it was read once. */
  readonly latest: () => Value | undefined;
  /** Milliseconds since the reading of the latest value began; `Infinity` until it was read once. */
  readonly age: () => number;
  /** Reads it if that is due. Never rejects: the last value stays. */
  readonly refresh: () => Promise<void>;
  /** Makes it due, because something has changed. */
  readonly expire: () => void;
};

/** A reading is followed by a pause of so many times its duration. */
export const share = 300;

/** Milliseconds: no figure gets older than that because its reading takes long. */
const longestPause = 300_000;

/**
 * @param least milliseconds between the end of one reading and the next
 * @param most milliseconds, for a figure that must not get as old as others
 */
export function createPacedRead<Value>(
  { monotonic }: Pick<EngineContext, 'monotonic'>,
  least: number,
  read: () => Promise<Value>,
  most = longestPause,
): PacedRead<Value> {
  let latest: Value | undefined;
  let latestBegan = Number.NEGATIVE_INFINITY;
  let nextAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let expiredAt = Number.NEGATIVE_INFINITY;
  let formerTook = 0;
  const readOnce = async (): Promise<void> => {
    const began = monotonic();
    const pauseAfter = await read().then(
      (value) => {
        latest = value;
        latestBegan = began;
        const took = monotonic() - began;
        const pause = Math.min(took, formerTook) * share;
        formerTook = took;
        return Math.min(pause, most);
      },
      // During an outage the page says so. How long a reading takes that fails says nothing of the next one.
      () => monotonic() - began,
    );
    const ended = monotonic();
    // What changed while it was read may be missing.
    nextAt = expiredAt >= began ? ended : ended + Math.max(least, pauseAfter);
  };
  return {
    latest: () => latest,
    age: () => monotonic() - latestBegan,
    refresh: () => {
      if (monotonic() < nextAt) return reading ?? Promise.resolve();
      reading ??= readOnce().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    expire: () => {
      expiredAt = monotonic();
      nextAt = expiredAt;
    },
  };
}

/** For every page whose figures come from delivery reports. */
export function createUnappliedRead({
  ledger,
  now,
  monotonic,
}: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>): PacedRead<UnappliedReports> {
  return createPacedRead({ monotonic }, 2_000, () => findUnappliedReports(ledger.monitoring, now()), 10_000);
}

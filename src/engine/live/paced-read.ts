import type { EngineContext } from '../context.ts';

/**
 * A figure whose reading takes time: at most a three-hundredth of the time is spent on it. The shorter of the last two
 * readings counts, because the first one, and one on a busy machine, take far longer than others.
 */
export type PacedRead<Value> = {
  /** Undefined until it was read once. */
  readonly latest: () => Value | undefined;
  /** Reads it if that is due. Never rejects: the last value stays. */
  readonly refresh: () => Promise<void>;
  /** Makes it due, because something has changed. */
  readonly expire: () => void;
};

/** A reading is followed by a pause of so many times its duration. */
export const share = 300;

/** @param least milliseconds between the end of one reading and the next */
export function createPacedRead<Value>(
  { monotonic }: Pick<EngineContext, 'monotonic'>,
  least: number,
  read: () => Promise<Value>,
): PacedRead<Value> {
  let latest: Value | undefined;
  let nextAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let expiredAt = Number.NEGATIVE_INFINITY;
  let formerTook = 0;
  const readOnce = async (): Promise<void> => {
    const began = monotonic();
    try {
      latest = await read();
    } catch {
      // During an outage the page says so. A reading that fails is made again.
    }
    const ended = monotonic();
    const took = ended - began;
    // What changed while it was read may be missing.
    nextAt = expiredAt >= began ? ended : ended + Math.max(least, Math.min(took, formerTook) * share);
    formerTook = took;
  };
  return {
    latest: () => latest,
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

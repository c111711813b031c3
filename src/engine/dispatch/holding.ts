import type { HeldSlice } from '../../ledger/slices/acquire.ts';
import { heartbeatSeconds } from '../../ledger/slices/queue.ts';

/** A slice in this worker's hands, for as long as its signs of life arrive in time. */
export type Holding = {
  readonly slice: HeldSlice;
  /** Aborted when the slice is another worker's, or may be. */
  readonly lost: AbortSignal;
  /** Whether the last sign of life is so young that the slice is still held for certain. */
  readonly surelyHeld: () => boolean;
  /**
   * Whether the slice is still held. Costs nothing while that is certain; after a pause of the process
   * (a stopped process, a sleeping machine) the ledger is asked before anything is sent.
   */
  readonly stillHeld: () => Promise<boolean>;
  /** Gives a sign of life. */
  readonly touch: () => Promise<void>;
};

/** After so many milliseconds without a sign of life that arrived, others may take the slice. */
const lease = heartbeatSeconds * 1_000;

/**
 * @param monotonic milliseconds that go on however the clock is set
 * @param touchJob gives the sign of life; false when the job is no longer this worker's
 */
export function holdSlice(
  slice: HeldSlice,
  monotonic: () => number,
  touchJob: (slice: HeldSlice) => Promise<boolean>,
): Holding {
  const lost = new AbortController();
  let seenAt = monotonic();
  let touching: Promise<void> | undefined;

  async function touch(): Promise<void> {
    const startedAt = monotonic();
    if (await touchJob(slice)) seenAt = startedAt;
    else lost.abort();
  }

  const touchOnce = (): Promise<void> => {
    touching ??= touch().finally(() => {
      touching = undefined;
    });
    return touching;
  };

  const isYoung = (): boolean => monotonic() - seenAt < lease;
  const surelyHeld = (): boolean => !lost.signal.aborted && isYoung();

  return {
    slice,
    lost: lost.signal,
    touch: touchOnce,
    surelyHeld,
    async stillHeld() {
      // One that is under way may have begun before the pause.
      for (let tries = 0; !isYoung() && tries < 2 && !lost.signal.aborted; tries++) {
        await touchOnce();
      }
      return surelyHeld();
    },
  };
}

import { leaseSeconds } from '../../ledger/slices/queue.ts';
import type { EngineContext } from '../context.ts';

/** The right to send from a slice, for as long as it is renewed in time. */
export type Lease = {
  /** Aborted when the slice is another worker's, or may be. */
  readonly lost: AbortSignal;
  /** Whether it was renewed so lately that other workers leave the slice alone. */
  readonly isValid: () => boolean;
  /**
   * Whether it is valid, or can be renewed. Costs nothing while it is valid; after a pause of the process
   * (a stopped process, a sleeping machine) the ledger is asked before anything is sent.
   */
  readonly ensure: () => Promise<boolean>;
  readonly renew: () => Promise<void>;
};

const milliseconds = leaseSeconds * 1_000;

/**
 * The time since the last renewal is the longer one of two: while a machine sleeps, `monotonic` stands still, and `now` may be set
 * back.
 *
 * @param renewInQueue false when the job is no longer this worker's
 */
export function openLease(
  { monotonic, now }: Pick<EngineContext, 'monotonic' | 'now'>,
  renewInQueue: () => Promise<boolean>,
): Lease {
  const read = () => ({ monotonic: monotonic(), clock: now().getTime() });
  const lost = new AbortController();
  let renewedAt = read();
  let renewing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const startedAt = read();
    if (await renewInQueue()) renewedAt = startedAt;
    else lost.abort();
  }

  const renewOnce = (): Promise<void> => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  };

  const isYoung = (): boolean => {
    const is = read();
    return is.monotonic - renewedAt.monotonic < milliseconds && is.clock - renewedAt.clock < milliseconds;
  };
  const isValid = (): boolean => !lost.signal.aborted && isYoung();

  return {
    lost: lost.signal,
    isValid,
    renew: renewOnce,
    async ensure() {
      // A renewal that is under way may have begun before the pause.
      for (let tries = 0; !isYoung() && tries < 2 && !lost.signal.aborted; tries++) {
        await renewOnce();
      }
      return isValid();
    },
  };
}

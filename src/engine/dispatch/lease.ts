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
  readonly ensureValid: () => Promise<boolean>;
  readonly renew: () => Promise<void>;
};

const leaseDuration = leaseSeconds * 1_000;

/**
 * The time since the last renewal is the longer one of two: while a machine sleeps, `monotonic` stands still, and `now` may be set
 * back.
 *
 * @param renewInQueue false when the job is no longer this worker's
 */
export function createLease(
  { monotonic, now }: Pick<EngineContext, 'monotonic' | 'now'>,
  renewInQueue: () => Promise<boolean>,
): Lease {
  const readClocks = () => ({ monotonic: monotonic(), clock: now().getTime() });
  const lost = new AbortController();
  let renewedAt = readClocks();
  let renewing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const startedAt = readClocks();
    if (await renewInQueue()) renewedAt = startedAt;
    else lost.abort();
  }

  const renewOnce = (): Promise<void> => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  };

  const isRecent = (): boolean => {
    const is = readClocks();
    return is.monotonic - renewedAt.monotonic < leaseDuration && is.clock - renewedAt.clock < leaseDuration;
  };
  const isValid = (): boolean => !lost.signal.aborted && isRecent();

  return {
    lost: lost.signal,
    isValid,
    renew: renewOnce,
    async ensureValid() {
      // A renewal that is under way may have begun before the pause.
      for (let renewals = 0; !isRecent() && renewals < 2 && !lost.signal.aborted; renewals++) {
        await renewOnce();
      }
      return isValid();
    },
  };
}

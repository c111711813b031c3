import { leaseSeconds } from '../../ledger/slices/queue.ts';
import type { EngineContext } from '../context.ts';

/** The right to send requests of a slice. */
export type Lease = ReturnType<typeof createLease>;

const leaseDuration = leaseSeconds * 1_000;

/**
 * Takes the longer of two times since the renewal: `monotonic` stops while a machine sleeps, and `now` may be set
 * back.
 *
 * @param renewInQueue false if this worker no longer has the job
 */
export function createLease(
  { monotonic, now }: Pick<EngineContext, 'monotonic' | 'now'>,
  renewInQueue: () => Promise<boolean>,
) {
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
  /** Whether no other worker reclaims the slice yet. */
  const isValid = (): boolean => !lost.signal.aborted && isRecent();

  return {
    /** Aborts when another worker may own the slice. */
    get lost(): AbortSignal {
      return lost.signal;
    },
    isValid,
    renew: renewOnce,
    /** Asks the ledger only after a pause of the process (stopped, or a sleeping machine). */
    async ensureValid(): Promise<boolean> {
      // The renewal in progress may be older than the pause.
      for (let renewals = 0; !isRecent() && renewals < 2 && !lost.signal.aborted; renewals++) {
        await renewOnce();
      }
      return isValid();
    },
  };
}

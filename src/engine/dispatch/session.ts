import type { Ledger } from '../../ledger/connection.ts';
import { openWorkerSession } from '../../ledger/slices/session.ts';
import type { Patience } from './patience.ts';

export type KeptSession = {
  /**
   * Whether this worker may tell that others are dead. Right after it has lost its own session it may not: the others
   * may have lost theirs by the same event, and have five seconds to come back, as after a start of the server.
   */
  readonly isSteady: () => boolean;
  readonly close: () => Promise<void>;
};

const comeBackWithin = 5_000;

/**
 * Keeps a worker's session standing: a new one is opened for one that is lost.
 *
 * @param monotonic milliseconds that go on however the clock is set
 */
export async function keepSession(
  pool: Ledger['pool'],
  worker: string,
  onWake: () => void,
  monotonic: () => number,
  { persist }: Patience,
): Promise<KeptSession> {
  const open = () => persist(() => openWorkerSession(pool, worker, onWake));
  const closing = Promise.withResolvers<'closing'>();
  let session = await open();
  let steadyFrom = 0;

  async function keep(): Promise<void> {
    for (;;) {
      const end = await Promise.race([session.lost.then(() => 'lost' as const), closing.promise]);
      if (end === 'lost') steadyFrom = Number.POSITIVE_INFINITY;
      await persist(() => session.close());
      if (end === 'closing') return;
      session = await open();
      steadyFrom = monotonic() + comeBackWithin;
      // What was told meanwhile was not heard.
      onWake();
    }
  }

  // It rejects only when patience ends, and then the process ends too.
  const kept = keep().catch(() => undefined);
  return {
    isSteady: () => monotonic() >= steadyFrom,
    close: () => {
      closing.resolve('closing');
      return kept;
    },
  };
}

import type { Ledger } from '../../ledger/connection.ts';
import { openWorkerSession } from '../../ledger/slices/worker-session.ts';
import type { OutageRetry } from './outage-retry.ts';

/** Replaces a lost session. @returns closes the session */
export async function keepWorkerSession(
  pool: Ledger['pool'],
  worker: string,
  onWake: () => void,
  { retry }: OutageRetry,
): Promise<() => Promise<void>> {
  const open = (isAgain: boolean) => retry(() => openWorkerSession(pool, worker, onWake, isAgain));
  const closing = Promise.withResolvers<'closing'>();
  let session = await open(false);

  async function keep(): Promise<void> {
    for (;;) {
      const end = await Promise.race([session.lost, closing.promise]);
      await retry(() => session.close());
      if (end === 'closing') return;
      session = await open(true);
      // A notification may have been missed.
      onWake();
    }
  }

  // It rejects only when the process must end.
  const kept = keep().catch(() => undefined);
  return () => {
    closing.resolve('closing');
    return kept;
  };
}

import type { Ledger } from '../../ledger/connection.ts';
import { openWorkerSession } from '../../ledger/slices/session.ts';
import type { Patience } from './patience.ts';

/** A new one is opened for one that is lost. @returns closes it */
export async function keepSession(
  pool: Ledger['pool'],
  worker: string,
  onWake: () => void,
  { persist }: Patience,
): Promise<() => Promise<void>> {
  const open = (isAgain: boolean) => persist(() => openWorkerSession(pool, worker, onWake, isAgain));
  const closing = Promise.withResolvers<'closing'>();
  let session = await open(false);

  async function keep(): Promise<void> {
    for (;;) {
      const end = await Promise.race([session.lost, closing.promise]);
      await persist(() => session.close());
      if (end === 'closing') return;
      session = await open(true);
      // What was told meanwhile was not heard.
      onWake();
    }
  }

  // It rejects only when patience ends, and then the process ends too.
  const kept = keep().catch(() => undefined);
  return () => {
    closing.resolve('closing');
    return kept;
  };
}

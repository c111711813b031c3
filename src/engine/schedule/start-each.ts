import { inLock } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';

type Starter<Due, End> = {
  readonly list: () => Promise<readonly Due[]>;
  /** The name of its lock. */
  readonly nameOf: (due: Due) => string;
  /** @returns undefined if it stays due, or is started already */
  readonly start: (due: Due) => Promise<End | undefined>;
  readonly onEnd: (end: End) => void;
};

/** Starts each thing that is due, one process at a time. */
export async function startEach<Due, End>(
  pool: EngineContext['ledger']['pool'],
  { list, nameOf, start, onEnd }: Starter<Due, End>,
): Promise<void> {
  for (const name of (await list()).map(nameOf)) {
    const end = await inLock(pool, { sql: 'SELECT', values: [name] }, async () => {
      // Another process may have started it before we held the lock.
      const due = (await list()).find((each) => nameOf(each) === name);
      return due && (await start(due));
    });
    if (end) onEnd(end);
  }
}

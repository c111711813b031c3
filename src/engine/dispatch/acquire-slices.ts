import { setTimeout as sleep } from 'node:timers/promises';
import { acquireSlice } from '../../ledger/slices/acquire.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { returnSlice } from '../../ledger/slices/reclaim.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import type { AccountRuntimes } from './account-runtime.ts';
import type { HeldSlices } from './held-slices.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { Wakeup } from './wakeup.ts';

/** Limit of slices in one process. An account allows at most four in the whole fleet. */
const maxHeld = 8;

/** Additional slices of urgent runs. */
const maxUrgent = 2;

/** Milliseconds between two looks at an empty queue. */
const idlePollInterval = 1_000;

type AcquireOptions = {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly worker: string;
  readonly accounts: AccountRuntimes;
  readonly held: HeldSlices;
  readonly wakeup: Wakeup;
  readonly outageRetry: OutageRetry;
  readonly stop: AbortSignal;
};

export async function acquireSlices(options: AcquireOptions): Promise<void> {
  const { held, wakeup, stop } = options;
  while (!stop.aborted) {
    const acquired = held.busyCount() < maxHeld + maxUrgent && (await acquireOne(options));
    if (!acquired) await wakeup.wait(idlePollInterval, stop);
    // A worker with slices lets other workers go first.
    else if (held.count() > 1) await sleep(5 * held.count());
  }
}

async function acquireOne(options: AcquireOptions): Promise<boolean> {
  const { context, queue, outageRetry, worker, accounts, held } = options;
  const { ledger, now } = context;
  const owner = context.randomUuid();
  let isRetry = false;
  const acquisition = await outageRetry.retry(() => {
    const acquiring = acquireSlice(queue, ledger.pool, {
      worker,
      owner,
      isRetry,
      ignoredAccounts: accounts.unknown(),
      now,
      minPriority: held.busyCount() < maxHeld ? 'bulk' : 'urgent',
    });
    isRetry = true;
    return acquiring;
  });
  if (acquisition.kind !== 'held') return acquisition.kind !== 'none';
  const { slice } = acquisition;
  trace('slice acquired', slice.run);
  const account = await accounts.open(slice.account);
  if (account) held.begin(slice, account);
  else await outageRetry.retry(() => returnSlice(queue, ledger.pool, slice, now()));
  return true;
}

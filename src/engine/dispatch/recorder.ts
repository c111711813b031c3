import type { Ledger } from '../../ledger/connection.ts';
import { type Settlement, settleRequests } from '../../ledger/requests/settle.ts';
import { coalesce } from '../coalesce.ts';
import { trace } from '../trace-points.ts';
import type { OutageRetry } from './outage-retry.ts';

/** Returns when the settlement is committed; false if another worker owned the request. */
export type Recorder = (settlement: Settlement) => Promise<boolean>;

export function createRecorder(pool: Ledger['hot'], { retry }: OutageRetry): Recorder {
  async function commit(settlements: readonly Settlement[]): Promise<boolean[]> {
    let attempts = 0;
    for (const { run, request } of settlements) trace('recording', run, request);
    const settled = await retry(() => {
      attempts++;
      return settleRequests(pool, settlements);
    });
    for (const { run, request } of settlements) trace('recorded', run, request);
    // An earlier attempt may have committed it although its answer was lost.
    return settlements.map((_, index) => settled.has(index) || attempts > 1);
  }

  return coalesce(commit, { maxBatch: 64, busyThreshold: 16 });
}

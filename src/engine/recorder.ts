import type { Ledger } from '../ledger/connection.ts';
import { settleRequests } from '../ledger/requests/settle.ts';
import type { Settlement } from '../ledger/requests/settlement.ts';
import type { Patience } from './patience.ts';
import { pass } from './points.ts';

export type Recorder = {
  /** Resolves when the settlement is committed; false when the request was no longer its owner's. */
  record(settlement: Settlement): Promise<boolean>;
};

type Waiting = {
  readonly settlement: Settlement;
  readonly resolve: (settled: boolean) => void;
  readonly reject: (error: unknown) => void;
};

/** Most settlements in one transaction. */
const mostAtOnce = 1_000;

/**
 * Records outcomes in batches without a timer: what arrives while one batch is being committed goes into the next,
 * whatever run it is of.
 */
export function openRecorder(pool: Ledger['hot'], { persist }: Patience): Recorder {
  const waiting: Waiting[] = [];
  let committing = false;

  async function commit(): Promise<void> {
    committing = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, mostAtOnce);
      const settlements = batch.map(({ settlement }) => settlement);
      let tries = 0;
      try {
        for (const { run, request } of settlements) pass('recording', run, request);
        const settled = await persist(() => {
          tries++;
          return settleRequests(pool, settlements);
        });
        for (const { run, request } of settlements) pass('recorded', run, request);
        // What was committed by a try whose answer was lost is not settled a second time.
        for (const [place, { resolve }] of batch.entries()) resolve(settled.has(place) || tries > 1);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    committing = false;
  }

  return {
    record: (settlement) =>
      new Promise((resolve, reject) => {
        waiting.push({ settlement, resolve, reject });
        if (!committing) void commit();
      }),
  };
}

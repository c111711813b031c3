import type { Ledger } from '../ledger/connection.ts';
import { type Settlement, settleRequests } from '../ledger/requests/settle.ts';

export type Recorder = {
  /** Resolves when the settlement is committed; false when the request was no longer this owner's. */
  record(settlement: Settlement): Promise<boolean>;
};

type Waiting = {
  readonly settlement: Settlement;
  readonly resolve: (settled: boolean) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Records outcomes in batches without a timer: what arrives while one batch is being committed goes into the next.
 */
export function openRecorder(pool: Ledger['pool'], run: string, owner: string): Recorder {
  let waiting: Waiting[] = [];
  let committing = false;

  async function commit(): Promise<void> {
    committing = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const settled = new Set(
          await settleRequests(
            pool,
            run,
            owner,
            batch.map(({ settlement }) => settlement),
          ),
        );
        for (const { settlement, resolve } of batch) resolve(settled.has(settlement.request));
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

import { afterAll, afterEach, beforeAll } from 'vitest';
import type { SliceQueue } from '../../src/ledger/slices/queue.ts';
import { deleteRuns } from './empty-ledger.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { waitAfterServerStart } from './slices.ts';

/** Opens a ledger with its queue for the file. Each test starts without runs and jobs. */
export function useSlicedLedger(): Pick<TestLedger, 'ledger'> & { readonly queue: SliceQueue } {
  let open: (TestLedger & { readonly queue: SliceQueue }) | undefined;
  const opened = () => {
    if (!open) throw new Error('the ledger is open only while tests run');
    return open;
  };
  beforeAll(async () => {
    const ledger = await openTestLedger();
    open = { ...ledger, queue: await ledger.ledger.queue() };
    await waitAfterServerStart(ledger.ledger);
  });
  afterEach(async () => {
    await opened().ledger.pool.query('DELETE FROM volley_queue.job');
    await deleteRuns(opened().ledger.pool);
    await opened().ledger.pool.query('DELETE FROM envelopes');
  });
  afterAll(() => opened().close());
  return {
    get ledger() {
      return opened().ledger;
    },
    get queue() {
      return opened().queue;
    },
  };
}

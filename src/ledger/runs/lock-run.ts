import type { RunState } from '../../domain/runs.ts';
import type { Transaction } from '../session.ts';
import { dequeueSlices } from '../slices/enqueue.ts';
import { type SliceQueue, withAcquisitionsLocked } from '../slices/queue.ts';

/**
 * Locks the run and dequeues its waiting slices, so that a long transaction does not block acquisitions of other runs.
 *
 * @returns undefined if there is no such run
 */
export async function lockAndDequeueRun(
  queue: SliceQueue,
  client: Transaction,
  run: string,
): Promise<RunState | undefined> {
  return withAcquisitionsLocked(client, async () => {
    const { rows } = await client.query<{ state: RunState }>(
      'SELECT state FROM runs WHERE run_id = $1 FOR NO KEY UPDATE',
      [run],
    );
    await dequeueSlices(queue, client, run);
    return rows[0]?.state;
  });
}

import type { RunState } from '../../domain/runs.ts';
import type { Transaction } from '../session.ts';
import { dequeueSlices } from '../slices/enqueue.ts';
import { type SliceQueue, withAcquisitionsLocked } from '../slices/queue.ts';

/**
 * Takes its slices that no worker holds out of the queue. Whatever else the transaction then does, for however long, others can
 * take slices of other runs.
 *
 * @returns the state of the run; undefined when there is no such run
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

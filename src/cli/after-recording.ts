import { isConnectionFailure } from '../platform/database-failures.ts';
import { printable } from '../report/printable.ts';
import type { Shell } from './shell.ts';

/** Works after the result is recorded and printed; a lost database then changes neither result nor exit code. */
export async function afterRecording(shell: Shell, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isConnectionFailure(error)) throw error;
    shell.note(
      `The connection to the database was lost (${printable(error.message)}) after all of this was recorded. A worker, or the next \`volley run\`, sends the notifications that are due.`,
    );
  }
}

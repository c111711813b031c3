import { isConnectionFailure } from '../platform/database-failures.ts';
import { printable } from '../report/printable.ts';
import type { Shell } from './shell.ts';

/**
 * Does what a command does after its result is recorded and printed; workers or the next command do it otherwise. A lost
 * database then changes neither the result nor the exit code.
 */
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

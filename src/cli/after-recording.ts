import { isConnectionFailure } from '../platform/database-failures.ts';
import { printable } from '../report/printable.ts';
import type { Shell } from './shell.ts';

/**
 * Does what a command still does once what it was for is recorded and printed, and what workers or the next command do
 * otherwise. A database that is lost meanwhile changes nothing of what was printed, nor of the exit code.
 */
export async function afterRecording(shell: Shell, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isConnectionFailure(error)) throw error;
    shell.note(
      `The database was lost (${printable(error.message)}), after all of this was recorded. If others are still to be notified of it, a worker does that, or the next \`volley run\`.`,
    );
  }
}

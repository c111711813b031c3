import type { RunSummary } from '../domain/runs.ts';

/** What a command's end means, for the shell. */
export const exitCodes = {
  0: 'done, and every request accepted',
  1: 'internal error',
  2: 'bad input; nothing was sent',
  3: 'finished, with requests rejected, failed or unknown',
  4: 'stopped before the end (paused, credential refused)',
  130: 'interrupted; recorded, and resumable',
} as const;

export type ExitCode = keyof typeof exitCodes;

/** Says how a run ends that was not stopped. */
export function exitCodeOfRequests({
  rejected,
  failed,
  in_doubt,
  abandoned,
}: RunSummary['requests']): ExitCode {
  return rejected + failed + in_doubt + abandoned > 0 ? 3 : 0;
}

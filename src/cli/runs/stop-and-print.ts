import { requireSummary } from '../../engine/runs/find-run.ts';
import { cancel, pause, waitUntilIdle } from '../../engine/runs/stop-run.ts';
import { formatRunSummary } from '../../report/run/run-summary.ts';
import { type Shell, withLedger } from '../shell.ts';
import { chooseRun } from './choose-run.ts';

const stops = { pause, cancel };

/** Stops a run in all processes, and waits for the record of its requests in flight. */
export async function stopAndPrint(
  shell: Shell,
  action: keyof typeof stops,
  name: string,
  { reason, json }: { readonly reason: string; readonly json?: true },
): Promise<void> {
  await withLedger(shell, async (context) => {
    const run = await chooseRun(shell, context, name);
    await stops[action](context, run, reason);
    shell.endOnStop(
      'The run is stopped. The processes that send it can still be recording requests in flight (volley status).',
    );
    await waitUntilIdle(context, run, shell.stop);
    const summary = await requireSummary(context, run);
    shell.print(json ? JSON.stringify(summary) : formatRunSummary(summary, shell.screen));
  });
}

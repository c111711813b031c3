import type { Command } from 'commander';
import { requireSummary } from '../engine/runs/find-run.ts';
import { type pause, waitUntilIdle } from '../engine/runs/stop-run.ts';
import { formatRunSummary } from '../report/run-summary.ts';
import { chooseRun, runArgument } from './choose-run.ts';
import { type Shell, withLedger } from './shell.ts';

/** Stops a run in all processes, and waits for the record of its requests in flight. */
export function stopCommand(command: Command, shell: Shell, stop: typeof pause, byDefault: string): void {
  command
    .argument('<run>', runArgument)
    .option('--reason <text>', 'the reason, for the audit trail', byDefault)
    .option('--json', "print the run's summary as JSON")
    .action(async (name: string, { reason, json }: { reason: string; json?: true }) => {
      await withLedger(shell, async (context) => {
        const run = await chooseRun(shell, context, name);
        await stop(context, run, reason);
        shell.endOnStop(
          'The run is stopped. The processes that send it can still be recording requests in flight (volley status).',
        );
        await waitUntilIdle(context, run, shell.stop);
        const summary = await requireSummary(context, run);
        shell.print(json ? JSON.stringify(summary) : formatRunSummary(summary, shell.screen));
      });
    });
}

import type { Command } from 'commander';
import { requireSummary } from '../../engine/runs/find-run.ts';
import { pause, waitUntilIdle } from '../../engine/runs/stop-run.ts';
import { runSummaryText } from '../../report/run-summary.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Pauses a run, whatever process is sending it: nothing more is sent from now on, and what is on its way is recorded. `volley resume` goes on.',
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--reason <text>', 'why, for those who come after', 'paused by an operator')
    .option('--json', "print the run's summary as JSON")
    .action(async (run: string, { reason, json }: { reason: string; json?: true }) => {
      await withLedger(shell, async (context) => {
        await pause(context, run, reason);
        shell.endsAtOnce(
          'The run is stopped; the processes that send it may still be recording what was on its way (volley status).',
        );
        await waitUntilIdle(context, run, shell.stop);
        const summary = await requireSummary(context, run);
        shell.print(json ? JSON.stringify(summary) : runSummaryText(summary, shell.screen));
      });
    });
}

import type { Command } from 'commander';
import { requireRun, requireSummary } from '../../engine/find-run.ts';
import { printable } from '../../report/printable.ts';
import { runSummaryText } from '../../report/run-summary.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description('Shows a run in numbers: contacts, requests and recipients by state.')
    .argument('<run>', "the run's id (volley runs)")
    .option('--json', 'print the summary as JSON')
    .action(async (runId: string, { json }: { json?: true }) => {
      await withLedger(shell, async (context) => {
        const summary = await requireSummary(context, runId);
        const { stateReason } = await requireRun(context, runId);
        if (json) {
          shell.print(JSON.stringify({ ...summary, reason: stateReason }));
        } else {
          shell.print(runSummaryText(summary));
          if (stateReason) shell.print(`  because     ${printable(stateReason)}`);
        }
      });
    });
}

import type { Command } from 'commander';
import { approveRun } from '../../engine/plan/approve-run.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Approves a run of a campaign with `approval`, before which nothing of it is sent, in the name of the user of the operating system. It has to be another one than the one who planned it, and neither the campaign nor its contact files may have changed since.',
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--json', 'print the approval as JSON')
    .action(async (run: string, { json }: { json?: true }) => {
      await withLedger(shell, async (context) => {
        const { approvedBy: by, approvedAt, ...approval } = await approveRun(context, run);
        const { state } = await requireRun(context, run);
        const next =
          state === 'paused'
            ? `It is paused; \`volley resume ${run}\` sends it.`
            : `A scheduled one begins by itself; \`volley resume ${run}\` sends any.`;
        const text = `Run ${run} is approved by ${by}. ${next}`;
        const reason = formatReason(approval.reason);
        shell.print(json ? JSON.stringify({ run, by, approvedAt, reason }) : text);
      });
    });
}

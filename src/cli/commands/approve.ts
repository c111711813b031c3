import type { Command } from 'commander';
import { approveRun } from '../../engine/plan/approve-run.ts';
import { parsePerson } from '../options.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Approves a run of a campaign with `approval`, before which nothing of it is sent. It has to be somebody else than who planned it, and neither the campaign nor its contact files may have changed since.',
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--by <name>', 'who says so (default: user@host)', parsePerson)
    .option('--json', 'print the approval as JSON')
    .action(async (run: string, { by: named, json }: { by?: string; json?: true }) => {
      const {
        approvedBy: by,
        approvedAt,
        reason,
      } = await withLedger(shell, (context) =>
        approveRun(context, shell.settings, { run, by: named ?? context.actor.who }),
      );
      shell.print(
        json
          ? JSON.stringify({ run, by, approvedAt, reason })
          : `Run ${run} is approved by ${by}. A scheduled one begins by itself; \`volley resume ${run}\` sends any.`,
      );
    });
}

import type { Command } from 'commander';
import type { ApproveOptions } from '../actions/approve.ts';
import { reasonOption, runArgument } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Approves a run of a campaign with `approval`; before, nothing of the run is sent. The approver is the user of the operating system, and must be another person than the planner. The campaign and its contact files must be unchanged.',
    )
    .argument('<run>', runArgument)
    .option(...reasonOption)
    .option('--json', 'print the approval as JSON')
    .action(async (name: string, options: ApproveOptions) => {
      const { approveAction } = await import('../actions/approve.ts');
      await approveAction(shell, name, options);
    });
}

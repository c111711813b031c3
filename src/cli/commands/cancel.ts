import type { Command } from 'commander';
import { addStopOptions } from '../options.ts';
import type { Shell } from '../shell.ts';
import type { StopOptions } from '../stop-and-print.ts';

export function define(command: Command, shell: Shell): void {
  addStopOptions(command, 'cancelled by an operator')
    .description(
      'Ends a run for good, in whichever process sends it. Requests that are not sent yet are never sent. Answers to requests in flight are recorded.',
    )
    .action(async (name: string, options: StopOptions) => {
      const { cancelAction } = await import('../actions/cancel.ts');
      await cancelAction(shell, name, options);
    });
}

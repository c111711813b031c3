import type { Command } from 'commander';
import { addStopOptions } from '../options.ts';
import type { Shell } from '../shell.ts';
import type { StopOptions } from '../stop-and-print.ts';

export function define(command: Command, shell: Shell): void {
  addStopOptions(command, 'paused by an operator')
    .description(
      'Pauses a run, in whichever process sends it. No further request is sent, and answers to requests in flight are recorded. `volley resume` continues it.',
    )
    .action(async (name: string, options: StopOptions) => {
      const { pauseAction } = await import('../actions/pause.ts');
      await pauseAction(shell, name, options);
    });
}

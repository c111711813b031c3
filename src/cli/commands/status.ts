import type { Command } from 'commander';
import type { StatusOptions } from '../actions/status.ts';
import { parseSeconds, runArgument } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Shows a run in numbers: contacts, requests and recipients by state, and its notifications. With --watch, shows its progress until it is over.',
    )
    .argument('[run]', `${runArgument}; without one, the newest run`)
    .option(
      '--watch',
      'show the progress until the run is completed or cancelled: redrawn on a terminal, otherwise a line for each change',
    )
    .option(
      '--interval <seconds>',
      'with --watch, how often to look (default: 1, for lines of text 5)',
      parseSeconds,
    )
    .option(
      '--exit-status',
      'end with 3 if requests were not accepted, and with 4 if the run is paused or cancelled',
    )
    .option('--json', 'print the summary as JSON; with --watch, first a line for each change')
    .action(async (name: string | undefined, options: StatusOptions) => {
      const { statusAction } = await import('../actions/status.ts');
      await statusAction(shell, name, options);
    });
}

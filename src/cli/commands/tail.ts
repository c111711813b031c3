import type { Command } from 'commander';
import type { TailOptions } from '../actions/tail.ts';
import { parsePast, parseWholeNumber, runArgument } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Prints what happens to a run as it happens: attempts and answers, delivery reports and replies, decisions of operators, and changes of its state. Ends when the run is completed or cancelled. Without a run, follows all until Ctrl-C.',
    )
    .argument('[run]', `${runArgument}; without one, all runs`)
    .option('-n, --lines <number>', 'lines of the past to begin with (default: 10)', parseWholeNumber)
    .option(
      '--since <time>',
      'begin with everything since this time, such as 15m, 2026-11-21 or 2026-11-21T08:00:00Z',
      (text: string) => parsePast(text, shell.now()),
    )
    .option('--failures', 'neither acceptances nor deliveries')
    .option('--addresses', 'with the addresses of recipients in delivery reports')
    .option('-f, --follow', 'also after the end of the run, for later delivery reports, until Ctrl-C')
    .option('--no-follow', 'print the past and end')
    .option('--json', 'print one JSON object a line')
    .action(async (name: string | undefined, options: TailOptions) => {
      const { tailAction } = await import('../actions/tail.ts');
      await tailAction(shell, name, options);
    });
}

import type { Command } from 'commander';
import { runArgument } from '../options.ts';
import type { Shell } from '../shell.ts';

export function definePoll(command: Command, shell: Shell): void {
  command
    .command('poll')
    .description(
      'Looks up accepted requests of a run without final delivery reports, one a second. The account needs statusLookUp: on.',
    )
    .argument('<run>', runArgument)
    .option('--json', 'print the result as JSON')
    .action(async (name: string, options: { json?: true }) => {
      const { pollAction } = await import('../actions/delivery-reports-poll.ts');
      await pollAction(shell, name, options);
    });
}

import type { Command } from 'commander';
import type { PurgeOptions } from '../actions/purge.ts';
import { durationReader, lateOption } from '../late-options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command
    .description(
      'Erases addresses, names, messages, files and raw delivery reports of old runs, for good. Counts, units, money, MessageIDs and payers stay, so billing reports do not change. Suppressions stay as keyed hashes. docs/how-to/purge.md describes what is kept, and the key of the hashes.',
    )
    .addOption(
      (
        await lateOption(
          words,
          '--older-than <time>',
          'runs that ended longer ago than this, such as 400d',
          durationReader,
        )
      ).makeOptionMandatory(),
    )
    .option(
      '--also-in-doubt',
      'also erase runs with requests in doubt; you can still resolve these requests, but not send them again',
    )
    .option('--dry-run', 'print what would be erased, and erase nothing')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print the result as JSON')
    .action(async (options: PurgeOptions) => {
      const { purgeAction } = await import('../actions/purge.ts');
      await purgeAction(shell, options);
    });
}

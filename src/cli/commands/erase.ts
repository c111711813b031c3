import type { Command } from 'commander';
import type { EraseOptions } from '../actions/erase.ts';
import { countryOption } from '../late-options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command
    .description(
      'Erases one person from all runs that have ended, for good: contact rows, messages, delivery reports and the words that contain the address. The address stays suppressed, as a keyed hash. Counts, units, money, MessageIDs and payers stay, so billing reports do not change. Runs that have not ended are named and left alone; then the exit code is 3. docs/how-to/purge.md describes what is kept.',
    )
    .argument('<address>', 'a phone number or an e-mail address')
    .addOption(await countryOption(words, 'country of a number without a country code'))
    .requiredOption('--reason <words>', 'why, for the audit trail; write no address')
    .option('--dry-run', 'print what would be erased, and erase nothing')
    .option('--json', 'print the result as JSON')
    .action(async (address: string, options: EraseOptions) => {
      const { eraseAction } = await import('../actions/erase.ts');
      await eraseAction(shell, address, options);
    });
}

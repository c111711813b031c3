import type { Command } from 'commander';
import type { RecipientOptions } from '../actions/report-recipient.ts';
import { countryOption } from '../late-options.ts';
import { parseCount } from '../options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command
    .command('recipient')
    .description(
      "Prints the history of a recipient, from the row of the contact file to the price. A MessageID or the service's job number selects all recipients of a request.",
    )
    .argument('<recipient>', 'a phone number, an e-mail address, a MessageID or a job number')
    .addOption(await countryOption(words, 'country of a number without a country code'))
    .option('--limit <number>', 'maximum of recipients', parseCount, 100)
    .option(
      '--all',
      'print everything known of an address: rows of contact files, messages, delivery reports, prices, suppressions, and the audit trail of its runs',
    )
    .option('--json', 'print one JSON object a line; one in all with --all')
    .action(async (recipient: string, options: RecipientOptions) => {
      const { recipientAction } = await import('../actions/report-recipient.ts');
      await recipientAction(shell, recipient, options);
    });
}

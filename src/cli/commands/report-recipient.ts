import type { Command } from 'commander';
import { reportRecipient } from '../../engine/reporting/recipient-report.ts';
import { formatReasonsOf, recipientStoryText } from '../../report/recipient-history.ts';
import { parseCountry } from '../country-option.ts';
import { parseCount } from '../options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .command('recipient')
    .description(
      "The whole story of a recipient, from the row of the contact file to the price; of all recipients of a request, by its MessageID or the service's job number.",
    )
    .argument('<recipient>', 'a phone number, an e-mail address, a MessageID or a job number')
    .option('--country <country>', 'of a number that is written without a country code', parseCountry)
    .option('--limit <number>', 'most recipients to tell of', parseCount, 100)
    .option('--json', 'print one JSON object a line')
    .action(async (recipient: string, { country, limit, json }: RecipientOptions) => {
      const { stories, hasMore, others } = await withLedgerToRead(shell, (context) =>
        reportRecipient(context, recipient, country, limit),
      );
      const told = stories.map(formatReasonsOf);
      shell.print(
        json
          ? told.map((story) => JSON.stringify(story)).join('\n')
          : told.map((story) => recipientStoryText(story, shell.screen)).join('\n\n'),
      );
      if (hasMore) shell.note(`There are more than these ${stories.length}; --limit <number> tells of more.`);
      if (others) {
        const { reports, address } = others;
        const which = reports === 1 ? '1 more report is' : `${reports} more reports are`;
        shell.note(
          `${which} of no message that is known: \`volley delivery-reports list --address ${address}\`.`,
        );
      }
    });
}

type RecipientOptions = { readonly country?: string; readonly limit: number; readonly json?: true };

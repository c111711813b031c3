import type { Command } from 'commander';
import { reportRecipient } from '../../engine/reporting/recipient-report.ts';
import { formatReasonsOf, formatRecipientHistory } from '../../report/recipient-history.ts';
import { parseCountry } from '../country-option.ts';
import { parseCount } from '../options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .command('recipient')
    .description(
      "Prints the history of a recipient, from the row of the contact file to the price. A MessageID or the service's job number selects all recipients of a request.",
    )
    .argument('<recipient>', 'a phone number, an e-mail address, a MessageID or a job number')
    .option('--country <country>', 'country of a number without a country code', parseCountry)
    .option('--limit <number>', 'maximum of recipients', parseCount, 100)
    .option('--json', 'print one JSON object a line')
    .action(async (recipient: string, { country, limit, json }: RecipientOptions) => {
      const { histories, hasMore, unmatched } = await withLedgerToRead(shell, (context) =>
        reportRecipient(context, recipient, country, limit),
      );
      const printed = histories.map(formatReasonsOf);
      shell.print(
        json
          ? printed.map((history) => JSON.stringify(history)).join('\n')
          : printed.map((history) => formatRecipientHistory(history, shell.screen)).join('\n\n'),
      );
      if (hasMore)
        shell.note(`There are more than these ${histories.length} recipients. --limit <number> prints more.`);
      if (unmatched) {
        const { reports, address } = unmatched;
        const which = reports === 1 ? '1 more delivery report is' : `${reports} more delivery reports are`;
        shell.note(`${which} for unknown messages: \`volley delivery-reports list --address ${address}\`.`);
      }
    });
}

type RecipientOptions = { readonly country?: string; readonly limit: number; readonly json?: true };

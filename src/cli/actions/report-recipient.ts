import { reportRecipient } from '../../engine/reporting/recipient-report.ts';
import { formatReasonsOf, formatRecipientHistory } from '../../report/recipient-history.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export type RecipientOptions = { readonly country?: string; readonly limit: number; readonly json?: true };

export async function recipientAction(
  shell: Shell,
  recipient: string,
  { country, limit, json }: RecipientOptions,
): Promise<void> {
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
}

import { reportPerson } from '../../engine/recipient-data/person-report.ts';
import { comparedAddressOf, reportRecipient } from '../../engine/reporting/recipient-report.ts';
import { type FormattedPerson, formatPerson } from '../../report/person-report.ts';
import { formatReasonsOf, formatRecipientHistory } from '../../report/recipient-history.ts';
import { formatSuppression } from '../../report/suppressions.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export type RecipientOptions = {
  readonly country?: string;
  readonly limit: number;
  readonly all?: true;
  readonly json?: true;
};

export async function recipientAction(
  shell: Shell,
  recipient: string,
  { country, limit, all, json }: RecipientOptions,
): Promise<void> {
  if (all) return printPerson(shell, comparedAddressOf(recipient, country), json);
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

async function printPerson(shell: Shell, address: string, json: true | undefined): Promise<void> {
  const { recipients, suppressions, ...found } = await withLedgerToRead(shell, (context) =>
    reportPerson(context, address),
  );
  const person: FormattedPerson = {
    ...found,
    recipients: recipients.map(({ message, ...history }) => ({ ...formatReasonsOf(history), message })),
    suppressions: suppressions.map(formatSuppression),
  };
  shell.print(json ? JSON.stringify(person) : formatPerson(person, shell.screen));
}

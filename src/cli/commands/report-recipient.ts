import { argument, defineCommand, flag, option } from '../command.ts';
import { parseCount } from '../option-readers.ts';
import { countryOption } from '../options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description:
    'Prints the history of a recipient, or of all recipients of a request, from the row of the contact file to the price.',
  arguments: [argument('<recipient>', 'a phone number, an e-mail address, a MessageID or a job number')],
  options: [
    countryOption,
    option('--limit <number>', 'maximum of recipients', { read: parseCount, default: 100 }),
    flag('--all', 'everything known of an address, also suppressions and audit entries'),
    flag('--json', 'print JSON, one object a line; one in all with --all'),
  ],
  examples: [['volley report recipient +61412345678', 'see everything about one recipient']],
  run: async (shell, [recipient], { country, limit, all, json }) => {
    const reports = await import('../../engine/reporting/recipient-report.ts');
    const { formatReasonsOf, formatRecipientHistory } = await import('../../report/recipient-history.ts');
    if (all) return printPerson(shell, reports.comparedAddressOf(recipient, country), json);
    const { histories, hasMore, unmatched } = await withLedgerToRead(shell, (context) =>
      reports.reportRecipient(context, recipient, country, limit),
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
      const { reports: count, address } = unmatched;
      const which = count === 1 ? '1 more delivery report is' : `${count} more delivery reports are`;
      shell.note(`${which} for unknown messages: \`volley delivery-reports list --address ${address}\`.`);
    }
  },
});

async function printPerson(shell: Shell, address: string, json: true | undefined): Promise<void> {
  const { reportPerson } = await import('../../engine/recipient-data/person-report.ts');
  const { formatPerson } = await import('../../report/person-report.ts');
  const { formatReasonsOf } = await import('../../report/recipient-history.ts');
  const { toRecord } = await import('../../report/formats/json.ts');
  const { suppressionColumns } = await import('../../report/lists/suppressions.ts');
  const { recipients, ...found } = await withLedgerToRead(shell, (context) => reportPerson(context, address));
  const person = {
    ...found,
    recipients: recipients.map(({ message, ...history }) => ({ ...formatReasonsOf(history), message })),
  };
  if (!json) shell.print(formatPerson(person, shell.screen));
  else {
    const suppressions = person.suppressions.map((each) => toRecord(suppressionColumns, each));
    shell.print(JSON.stringify({ ...person, suppressions }));
  }
}

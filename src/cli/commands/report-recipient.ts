import { InputError } from '../../domain/problems.ts';
import type { RecipientHistory } from '../../ledger/recipients/history.ts';
import { awayExits, cellsOf, readCells } from '../cells.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { CellsAwayError } from '../failures.ts';
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
  exits: awayExits,
  examples: [['volley report recipient +61412345678', 'see everything about one recipient']],
  run: async (shell, [recipient], { country, limit, all, json }) => {
    const reports = await import('../../engine/reporting/recipient-report.ts');
    const { formatReasonsOf, formatRecipientHistory } = await import('../../report/recipient-history.ts');
    const { formatAsOf } = await import('../../report/time.ts');
    if (all) return printPerson(shell, reports.comparedAddressOf(recipient, country), json);
    const { asOf, histories, hasMore, unmatched } = (await cellsOf(shell))
      ? await searchCells(shell, recipient, { country, limit })
      : await withLedgerToRead(shell, (context) =>
          reports.reportRecipient(context, recipient, country, limit),
        );
    const texts = histories.map(({ cell, ...history }: HistoryOfCell) => {
      const formatted = formatReasonsOf(history);
      if (json) return JSON.stringify({ ...(cell && { cell }), ...formatted });
      const text = formatRecipientHistory(formatted, shell.screen);
      return cell ? `${text}\n  cell       ${cell}` : text;
    });
    shell.print(texts.join(json ? '\n' : '\n\n'));
    if (asOf?.read) shell.note(`As of ${formatAsOf(asOf)}.`);
    if (hasMore)
      shell.note(`There are more than these ${histories.length} recipients. --limit <number> prints more.`);
    if (unmatched) {
      const { reports: count, address } = unmatched;
      const which = count === 1 ? '1 more delivery report is' : `${count} more delivery reports are`;
      shell.note(`${which} for unknown messages: \`volley delivery-reports list --address ${address}\`.`);
    }
  },
});

type HistoryOfCell = RecipientHistory & { readonly cell?: string | null };

/** The runs of the last days first. @throws InputError when no cell has sent to it */
async function searchCells(
  shell: Shell,
  text: string,
  search: { readonly country: string | undefined; readonly limit: number },
) {
  const { searchRecipient } = await import('../../engine/reporting/recipient-report.ts');
  const { parts, away } = await readCells(shell, (context) => searchRecipient(context, text, search));
  const found = parts.flatMap(({ cell, value }) =>
    value.histories.map((history): HistoryOfCell => ({ ...history, cell })),
  );
  const unmatched = parts.flatMap(({ value }) => value.unmatched ?? []);
  const [address] = unmatched.map((each) => each.address);
  if (found.length === 0) {
    const what = 'No run of a cell that answers has this MessageID, job number or recipient.';
    throw away.length > 0
      ? new CellsAwayError([{ where: text, what }])
      : new InputError([{ where: text, what }]);
  }
  const dayOf = ({ run }: HistoryOfCell): string => run.slice(0, 6);
  return {
    asOf: undefined,
    histories: found.toSorted((one, other) => dayOf(other).localeCompare(dayOf(one))).slice(0, search.limit),
    hasMore: found.length > search.limit || parts.some(({ value }) => value.hasMore),
    unmatched: address && { address, reports: unmatched.reduce((sum, { reports }) => sum + reports, 0) },
  };
}

async function printPerson(shell: Shell, address: string, json: true | undefined): Promise<void> {
  const { reportPerson } = await import('../../engine/recipient-data/person-report.ts');
  const { formatPerson } = await import('../../report/person-report.ts');
  const { formatReasonsOf } = await import('../../report/recipient-history.ts');
  const { toRecord } = await import('../../report/formats/json.ts');
  const { suppressionColumns } = await import('../../report/lists/suppressions.ts');
  const { parts } = await readCells(shell, (context) => reportPerson(context, address));
  for (const { cell, value } of parts) {
    const { recipients, ...found } = value;
    const person = {
      ...(cell !== null && { cell }),
      ...found,
      recipients: recipients.map(({ message, ...history }) => ({ ...formatReasonsOf(history), message })),
    };
    if (cell !== null && !json) shell.print(`Cell ${cell}\n`);
    if (!json) shell.print(formatPerson(person, shell.screen));
    else {
      const suppressions = person.suppressions.map((each) => toRecord(suppressionColumns, each));
      shell.print(JSON.stringify({ ...person, suppressions }));
    }
  }
}

import { InputError } from '../../domain/problems.ts';
import { awayExits, readCells } from '../cells.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { CellsAwayError } from '../failures.ts';
import { parseCount } from '../option-readers.ts';
import { countryOption } from '../options.ts';
import type { Shell } from '../shell.ts';

export const command = defineCommand({
  description:
    'Searches for a recipient, and prints its history from the row of the contact file to the price; of a request, those of all its recipients.',
  arguments: [
    argument(
      '<recipient>',
      'a phone number, an e-mail address, a MessageID, a job number, a ChargeCode, or words of its row in a contact file',
    ),
  ],
  options: [
    countryOption,
    option('--limit <number>', 'maximum of recipients', { read: parseCount, default: 100 }),
    flag('--all', 'everything known of an address, also suppressions and audit entries'),
    flag('--json', 'print JSON, one object a line; one in all with --all'),
  ],
  exits: awayExits,
  examples: [
    ['volley report recipient +61412345678', 'see everything about one recipient'],
    ['volley report recipient "ann NET-2600"', 'find a recipient by words of its row'],
  ],
  run: async (shell, [text], { country, limit, all, json }) => {
    const { comparedAddressOf, searchRecipient } = await import('../../engine/reporting/recipient-report.ts');
    const { formatReasonsOf, formatRecipientHistory } = await import('../../report/recipient-history.ts');
    const { searchSentences } = await import('../../report/search-words.ts');
    const { formatAsOf, screenZone } = await import('../../report/time.ts');
    if (all) return printPerson(shell, comparedAddressOf(text, country), json);
    const search = { country, limit, wordsTime };
    const { parts, away } = await readCells(shell, (context) => searchRecipient(context, text, search));
    const sentences = parts.flatMap(({ cell, value }) =>
      searchSentences(value, screenZone(shell.screen)).map((each) => (cell ? `${cell}: ${each}` : each)),
    );
    const found = parts.flatMap(({ cell, value }) =>
      value.histories.map((history) => ({ ...history, cell })),
    );
    const isLeftOut = (run: string, row: number) =>
      !found.some((each) => each.run === run && each.row === row);
    const leftOut = parts.flatMap(({ value }) => value.rows).filter(({ run, row }) => isLeftOut(run, row));
    if (found.length === 0 && leftOut.length === 0) {
      const problem = { where: text, what: ['Nothing was found.', ...sentences].join(' ') };
      throw away.length > 0 ? new CellsAwayError([problem]) : new InputError([problem]);
    }
    const newest = found.toSorted((one, other) => Number(other.plannedAt) - Number(one.plannedAt));
    const texts = newest.slice(0, limit).map(({ cell, ...history }) => {
      const formatted = formatReasonsOf(history);
      if (json) return JSON.stringify({ ...(cell && { cell }), ...formatted });
      const printed = formatRecipientHistory(formatted, shell.screen);
      return cell ? `${printed}\n  cell       ${cell}` : printed;
    });
    shell.print(texts.join(json ? '\n' : '\n\n'));
    for (const { run, row } of leftOut) shell.note(`Row ${row} of run ${run} was left out.`);
    for (const each of sentences) shell.note(each);
    for (const { value } of parts) if (value.asOf.read) shell.note(`As of ${formatAsOf(value.asOf)}.`);
    if (newest.length > limit || parts.some(({ value }) => value.hasMore))
      shell.note(`There are more than these ${texts.length} recipients. --limit <number> prints more.`);
    const [unmatched] = parts.flatMap(({ value }) => value.unmatched ?? []);
    if (unmatched) {
      const reports = parts.reduce((sum, { value }) => sum + (value.unmatched?.reports ?? 0), 0);
      const which = reports === 1 ? '1 more delivery report is' : `${reports} more delivery reports are`;
      shell.note(
        `${which} for unknown messages: \`volley delivery-reports list --address ${unmatched.address}\`.`,
      );
    }
  },
});

/** Milliseconds in which contact files are searched. */
const wordsTime = 60_000;

async function printPerson(shell: Shell, address: string, json: true | undefined): Promise<void> {
  const { reportPerson } = await import('../../engine/recipient-data/person-report.ts');
  const { formatPerson } = await import('../output/person-text.ts');
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

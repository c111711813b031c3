import { InvalidArgumentError } from 'commander';
import { fixableReasons, type RejectionReason, rejectionReasons } from '../../domain/contacts.ts';
import { type Encoding, encodings } from '../../platform/encodings.ts';
import type { CsvForm } from '../../report/formats/sheet.ts';
import { countStates, type ReportedState, reportedStates } from '../../report/run/contact-sheet.ts';
import { awayExits, withLedgerOfRun } from '../cells.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { statesReader } from '../option-readers.ts';
import { reportOptions, runArgument } from '../options.ts';

export const command = defineCommand({
  description:
    'Prints the result file: each row of the contact files with its state, reason, MessageID and price. Rows with --state invalid,suppressed can be fixed, and sent with `volley run <campaign> --contacts <file> --of <run>`.',
  arguments: [argument('<run>', runArgument)],
  options: [
    ...reportOptions('csv'),
    option('--state <state...>', 'only rows in these states', {
      choices: reportedStates,
      read: statesReader(reportedStates),
      conflicts: ['rejected', 'reasons'],
    }),
    flag('--rejected', 'only rows that can be fixed', { retired: '`--state invalid,suppressed`' }),
    option('--reasons <reasons>', 'only rows that were rejected for these reasons', {
      read: statesReader(rejectionReasons),
      retired: '`--state <reasons>`',
    }),
    option('--delimiter <delimiter>', 'of the CSV: , ; | or tab (default: as in the contact file)', {
      read: parseDelimiter,
    }),
    option('--encoding <encoding>', 'of the CSV (default: as in the contact file)', { choices: encodings }),
  ],
  exits: awayExits,
  examples: [
    ['volley report contacts latest --out result.csv', 'write every row with its result'],
    ['volley report contacts latest --state invalid,suppressed --out rejected.csv', 'write the rows to fix'],
  ],
  run: async (shell, [name], { rejected, reasons, state, delimiter, encoding, ...options }) => {
    const reports = await import('../../engine/reporting/contact-report.ts');
    const { contactSheet } = await import('../../report/run/contact-sheet.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const write = sheetWriter(shell, options, 'csv');
    const states = new Set<ReportedState>(reasons ?? (rejected ? fixableReasons : (state ?? reportedStates)));
    const exported = rejectionReasons.filter((reason) => states.has(reason));
    let tally = countStates();
    // A test keeps no contact files.
    const filter = { kind: 'ordinary' } as const;
    await withLedgerOfRun(shell, { name, filter }, async (context, run) => {
      await reports.reportContacts(context, run, (report) => {
        tally = countStates();
        const rows = tally.count(report.rows);
        const onScreen = shell.resultTerminal && options.out === undefined;
        const csv = csvForm(report.csv, { delimiter, encoding }, onScreen);
        return write(contactSheet(run, { ...report, rows, csv }, states));
      });
    });
    if (exported.length === states.size) shell.note(exportText(exported, tally.counts));
  },
});

/** The CSV looks like the contact file, unless the user asks for another form. A terminal shows UTF-8 only. */
function csvForm(
  read: CsvForm | undefined,
  {
    delimiter,
    encoding,
  }: { readonly delimiter: string | undefined; readonly encoding: Encoding | undefined },
  onScreen: boolean,
): CsvForm {
  const found = read ?? { encoding: 'utf-8', byteOrderMark: false, delimiter: ',' };
  const chosen = onScreen ? 'utf-8' : (encoding ?? found.encoding);
  return {
    encoding: chosen,
    byteOrderMark: !onScreen && (chosen === found.encoding ? found.byteOrderMark : chosen !== 'utf-8'),
    delimiter: delimiter ?? found.delimiter,
  };
}

function exportText(
  exported: readonly RejectionReason[],
  counts: ReadonlyMap<ReportedState, number>,
): string {
  const listed = (reasons: readonly RejectionReason[]): string =>
    reasons.map((reason) => `${counts.get(reason) ?? 0} ${reason}`).join(', ');
  const others = rejectionReasons.filter((reason) => !exported.includes(reason) && counts.has(reason));
  const not = others.length > 0 ? ` Not exported: ${listed(others)} (--state selects them).` : '';
  return `Rejected contacts: ${listed(exported)}.${not}`;
}

function parseDelimiter(text: string): string {
  if (text === 'tab' || text === '\\t') return '\t';
  if ([',', ';', '|', '\t'].includes(text)) return text;
  throw new InvalidArgumentError('expected , ; | or tab.');
}

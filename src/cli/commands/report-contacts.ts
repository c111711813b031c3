import { type Command, Option } from 'commander';
import { fixableReasons, type RejectionReason, rejectionReasons } from '../../domain/contacts.ts';
import { reportContacts } from '../../engine/reporting/contact-report.ts';
import { contactSheet, countStates, type ReportedState, reportedStates } from '../../report/contact-sheet.ts';
import { chooseRun, runArgument } from '../choose-run.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { notInListError } from '../usage-errors.ts';

export function define(command: Command, shell: Shell): void {
  addReportOptions(command.command('contacts'), 'csv')
    .description(
      'Prints the result file: the rows of the contact files in their order, with state, reason, MessageID, units and price. With --rejected, prints the rejected contacts, so you can fix them and run `volley run <campaign> --contacts <file> --of <run>`.',
    )
    .argument('<run>', runArgument)
    .option('--rejected', 'only contacts that were rejected as invalid or suppressed')
    .addOption(
      new Option(
        '--reasons <reasons>',
        `only contacts that were rejected for these reasons (${rejectionReasons.join(',')}); the recipient of a duplicate is in the run`,
      ).argParser(parseReasons),
    )
    .addOption(
      new Option('--state <state...>', 'only rows in these states')
        .choices(reportedStates)
        .conflicts(['rejected', 'reasons']),
    )
    .action(async (name: string, { rejected, reasons, state, ...options }: ContactsOptions) => {
      const write = sheetWriter(shell, options, 'csv');
      const exported = reasons ?? (rejected ? fixableReasons : undefined);
      const states = new Set<ReportedState>(exported ?? state ?? reportedStates);
      const tally = countStates();
      await withLedgerToRead(shell, async (context) => {
        // A test keeps no contact files.
        const run = await chooseRun(shell, context, name, { kind: 'ordinary' });
        await reportContacts(context, run, (report) => {
          const rows = tally.count(report.rows);
          return write(contactSheet(run, { ...report, rows }, states, shell.now()));
        });
      });
      if (exported) shell.note(exportText(exported, tally.counts));
    });
}

type ContactsOptions = ReportOptions & {
  readonly rejected?: true;
  readonly reasons?: readonly RejectionReason[];
  readonly state?: readonly ReportedState[];
};

function parseReasons(text: string): readonly RejectionReason[] {
  return text.split(',').map((word) => {
    const reason = rejectionReasons.find((known) => known === word.trim());
    if (reason !== undefined) return reason;
    throw notInListError(word.trim(), rejectionReasons, ', separated by commas');
  });
}

function exportText(
  exported: readonly RejectionReason[],
  counts: ReadonlyMap<ReportedState, number>,
): string {
  const listed = (reasons: readonly RejectionReason[]): string =>
    reasons.map((reason) => `${counts.get(reason) ?? 0} ${reason}`).join(', ');
  const others = rejectionReasons.filter((reason) => !exported.includes(reason) && counts.has(reason));
  const not = others.length > 0 ? ` Not exported: ${listed(others)} (--reasons selects reasons).` : '';
  return `Rejected contacts: ${listed(exported)}.${not}`;
}

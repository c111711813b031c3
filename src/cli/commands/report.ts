import { type Command, Option } from 'commander';
import { mendableReasons, type RejectionReason, rejectionReasons } from '../../domain/contacts.ts';
import { reportContacts } from '../../engine/reporting/contact-report.ts';
import { reportFailures } from '../../engine/reporting/failure-report.ts';
import { tellRecipient } from '../../engine/reporting/recipient-story.ts';
import { contactSheet, type ReportedState, reportedStates, tallyStates } from '../../report/contact-sheet.ts';
import { failureSheet } from '../../report/failure-sheet.ts';
import { recipientStoryText } from '../../report/recipient-story.ts';
import { parseCountry } from '../country-option.ts';
import { parseCount } from '../options.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { notInList } from '../usage-errors.ts';
import { defineBilling } from './report-billing.ts';
import { defineCampaigns } from './report-campaigns.ts';
import { defineReconcile } from './report-reconcile.ts';
import { defineRun } from './report-run.ts';

export function define(command: Command, shell: Shell): void {
  command.description('Reports of what was sent and what it cost.');
  defineRun(command, shell);
  defineCampaigns(command, shell);
  addReportOptions(command.command('contacts'), 'csv')
    .description(
      'The result file: the rows of the contact files, in their order, with state, reason, MessageID, units and price. With --rejected, the contacts that were left out, ready to be mended and run again with `volley run <campaign> --contacts <file> --of <run>`.',
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--rejected', 'only contacts that were left out because they were invalid or suppressed')
    .addOption(
      new Option(
        '--reasons <reasons>',
        `only contacts that were left out for these reasons (${rejectionReasons.join(',')}); a duplicate is of a recipient who is in the run`,
      ).argParser(parseReasons),
    )
    .addOption(
      new Option('--state <state...>', 'only rows in these states')
        .choices(reportedStates)
        .conflicts(['rejected', 'reasons']),
    )
    .action(async (runId: string, { rejected, reasons, state, ...options }: ContactsOptions) => {
      const write = sheetWriter(shell, options, 'csv');
      const exported = reasons ?? (rejected ? mendableReasons : undefined);
      const states = new Set<ReportedState>(exported ?? state ?? reportedStates);
      const tally = tallyStates();
      await withLedgerToRead(shell, (context) =>
        reportContacts(context, runId, (report) => {
          const rows = tally.count(report.rows);
          return write(contactSheet(runId, { ...report, rows }, states, shell.now()));
        }),
      );
      if (exported) shell.note(exportText(exported, tally.counts));
    });
  addReportOptions(command.command('failures'), 'table')
    .description(
      "Every request that was rejected, failed, is in doubt or was abandoned, with its MessageID and the service's own words.",
    )
    .argument('<run>', "the run's id (volley runs)")
    .action(async (runId: string, options: ReportOptions) => {
      const write = sheetWriter(shell, options, 'table');
      await withLedgerToRead(shell, (context) =>
        reportFailures(context, runId, (report) => write(failureSheet(report, shell.now()))),
      );
    });
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
      const { stories, areMore, others } = await withLedgerToRead(shell, (context) =>
        tellRecipient(context, recipient, country, limit),
      );
      shell.print(
        json
          ? stories.map((story) => JSON.stringify(story)).join('\n')
          : stories.map((story) => recipientStoryText(story, shell.screen)).join('\n\n'),
      );
      if (areMore) shell.note(`There are more than these ${stories.length}; --limit <number> tells of more.`);
      if (others) {
        const { reports, address } = others;
        const which = reports === 1 ? '1 more report is' : `${reports} more reports are`;
        shell.note(`${which} of no message that is known: \`volley reports list --address ${address}\`.`);
      }
    });
  defineBilling(command, shell);
  defineReconcile(command, shell);
}

type RecipientOptions = { readonly country?: string; readonly limit: number; readonly json?: true };

type ContactsOptions = ReportOptions & {
  readonly rejected?: true;
  readonly reasons?: readonly RejectionReason[];
  readonly state?: readonly ReportedState[];
};

function parseReasons(text: string): readonly RejectionReason[] {
  return text.split(',').map((word) => {
    const reason = rejectionReasons.find((known) => known === word.trim());
    if (reason !== undefined) return reason;
    throw notInList(word.trim(), rejectionReasons, ', with commas between');
  });
}

/** What an export of contacts that were left out holds, by reason, and what it does not. */
function exportText(
  exported: readonly RejectionReason[],
  counts: ReadonlyMap<ReportedState, number>,
): string {
  const listed = (reasons: readonly RejectionReason[]): string =>
    reasons.map((reason) => `${counts.get(reason) ?? 0} ${reason}`).join(', ');
  const others = rejectionReasons.filter((reason) => !exported.includes(reason) && counts.has(reason));
  const not = others.length > 0 ? ` Not exported: ${listed(others)} (--reasons names what is).` : '';
  return `Contacts left out: ${listed(exported)}.${not}`;
}

import { type Command, Option } from 'commander';
import { rejectionReasons } from '../../domain.ts';
import { reportContacts } from '../../engine/contact-report.ts';
import type { EngineContext } from '../../engine/context.ts';
import { reportFailures } from '../../engine/failure-report.ts';
import { requireRun, requireSummary } from '../../engine/find-run.ts';
import { tellRecipient } from '../../engine/recipient-story.ts';
import {
  countConflicts,
  listCancellations,
  listDeliveryResults,
  listFailures,
  listRejectedContacts,
  listResolutions,
} from '../../ledger/runs/details.ts';
import { contactSheet, type ReportedState, reportedStates } from '../../report/contact-sheet.ts';
import { failureSheet } from '../../report/failure-sheet.ts';
import { recipientStoryText } from '../../report/recipient-story.ts';
import { type RunDetails, runDetailsText } from '../../report/run-details.ts';
import { parseCount, parseCountry } from '../options.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { type Shell, withLedger } from '../shell.ts';
import { defineBilling } from './report-billing.ts';

export function define(command: Command, shell: Shell): void {
  command.description('Reports of what was sent and what it cost.');
  command
    .command('run')
    .description(
      "A run: counts by state, delivery results and failures in the service's own words, contacts left out.",
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--json', 'print the report as JSON')
    .action(async (runId: string, { json }: { json?: true }) => {
      const details = await withLedger(shell, (context) => collectDetails(context, runId));
      shell.print(json ? JSON.stringify(details) : runDetailsText(details));
    });
  addReportOptions(command.command('contacts'), 'csv')
    .description(
      'The result file: the rows of the contact files, in their order, with state, reason, MessageID, units and price. With --rejected, the contacts that were left out, ready to be mended and run again with `volley run <campaign> --contacts <file>`.',
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--rejected', 'only contacts that were left out: invalid, duplicate, suppressed')
    .addOption(
      new Option('--state <state...>', 'only rows in these states')
        .choices(reportedStates)
        .conflicts('rejected'),
    )
    .action(async (runId: string, { rejected, state, ...options }: ContactsOptions) => {
      const write = sheetWriter(shell, options, 'csv');
      const states = new Set(rejected ? rejectionReasons : (state ?? reportedStates));
      await withLedger(shell, (context) =>
        reportContacts(context, runId, (report) => write(contactSheet(runId, report, states, shell.now()))),
      );
    });
  addReportOptions(command.command('failures'), 'table')
    .description(
      "Every request that was rejected, failed, is in doubt or was abandoned, with its MessageID and the service's own words.",
    )
    .argument('<run>', "the run's id (volley runs)")
    .action(async (runId: string, options: ReportOptions) => {
      const write = sheetWriter(shell, options, 'table');
      await withLedger(shell, (context) =>
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
      const { stories, areMore, others } = await withLedger(shell, (context) =>
        tellRecipient(context, recipient, country, limit),
      );
      shell.print(
        json
          ? stories.map((story) => JSON.stringify(story)).join('\n')
          : stories.map(recipientStoryText).join('\n\n'),
      );
      if (areMore) shell.note(`There are more than these ${stories.length}; --limit <number> tells of more.`);
      if (others) {
        const { reports, address } = others;
        const which = reports === 1 ? '1 more report is' : `${reports} more reports are`;
        shell.note(`${which} of no message that is known: \`volley reports list --address ${address}\`.`);
      }
    });
  defineBilling(command, shell);
}

type RecipientOptions = { readonly country?: string; readonly limit: number; readonly json?: true };

type ContactsOptions = ReportOptions & {
  readonly rejected?: true;
  readonly state?: readonly ReportedState[];
};

/** Contacts left out that are listed; all are counted. */
const listedContacts = 100;

async function collectDetails(context: EngineContext, runId: string): Promise<RunDetails> {
  const { knex, pool } = context.ledger;
  return {
    summary: await requireSummary(context, runId),
    stateReason: (await requireRun(context, runId)).stateReason,
    deliveryResults: await listDeliveryResults(knex, runId),
    conflicts: await countConflicts(pool, runId),
    cancellations: await listCancellations(knex, runId),
    failures: await listFailures(knex, runId),
    resolutions: await listResolutions(knex, runId),
    rejectedContacts: await listRejectedContacts(pool, runId, listedContacts),
  };
}

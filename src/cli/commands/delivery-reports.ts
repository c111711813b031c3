import { type Command, Option } from 'commander';
import { type DeliveryReportState, deliveryReportStates } from '../../domain/delivery-reports.ts';
import type { EngineContext } from '../../engine/context.ts';
import { applyInbox, replayDeliveryReports } from '../../engine/delivery-reports/apply-inbox.ts';
import { loadDeliveryReportRules } from '../../engine/delivery-reports/receiver-accounts.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { listDeliveryReports } from '../../ledger/delivery-reports/list.ts';
import { listMissing } from '../../ledger/delivery-reports/missing.ts';
import {
  deliveryReportColumns,
  deliveryReportTable,
  missingColumns,
  missingTable,
} from '../../report/delivery-reports.ts';
import { chooseRun } from '../choose-run.ts';
import { addListOptions, type ListOutput, printList } from '../list-output.ts';
import { parseTime } from '../options.ts';
import { parseDuration } from '../scalar-options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';
import { definePoll } from './delivery-reports-poll.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Lists delivery reports and replies, lists missing delivery reports and looks them up, and replays stored ones.',
  );
  defineList(command, shell);
  defineMissing(command, shell);
  definePoll(command, shell);
  defineReplay(command, shell);
}

/** The states that need attention. */
const noteworthy: readonly DeliveryReportState[] = [
  'conflicting',
  'unmatched',
  'inbound',
  'unreadable',
  'failed',
];

type ListOptions = ListOutput & {
  state?: DeliveryReportState[];
  run?: string;
  account?: string;
  address?: string;
};

function defineList(command: Command, shell: Shell): void {
  addListOptions(addRunOption(command.command('list')))
    .description(
      'Lists delivery reports in the order of arrival: conflicting, unmatched, unreadable (or with an unreadable price) and failed ones, and replies.',
    )
    .addOption(
      new Option('--state <state...>', 'delivery reports in these states instead').choices(
        deliveryReportStates,
      ),
    )
    .option('--account <name>', 'only of this account')
    .option('--address <address>', 'only of this address, as the service writes it')
    .action(async ({ state, run: name, account, address, ...output }: ListOptions) => {
      await withLedgerToRead(shell, async (context) => {
        const run = await requireChosenRun(shell, context, name);
        const states = state ?? noteworthy;
        const filter = { states, partlyRead: state === undefined, run, account, address };
        const form = {
          table: deliveryReportTable,
          columns: deliveryReportColumns,
          none: 'No such delivery reports.',
        };
        await printList(shell, output, form, (limit, onPage) =>
          listDeliveryReports(context.ledger.pool, filter, limit, onPage),
        );
      });
    });
}

type MissingOptions = ListOutput & { run?: string; olderThan: number };

function defineMissing(command: Command, shell: Shell): void {
  addListOptions(addRunOption(command.command('missing')))
    .description('Lists accepted recipients without a final delivery report, oldest first.')
    .option('--older-than <duration>', 'accepted at least this long ago', parseDuration, 0)
    .action(async ({ run: name, olderThan, ...output }: MissingOptions) => {
      await withLedgerToRead(shell, async (context) => {
        const run = await requireChosenRun(shell, context, name);
        const filter = { run, until: new Date(context.now().getTime() - olderThan) };
        const form = { table: missingTable, columns: missingColumns, none: 'No delivery report is missing.' };
        await printList(shell, output, form, (limit, onPage) =>
          listMissing(context.ledger.pool, filter, limit, onPage),
        );
      });
    });
}

type ReplayOptions = { account?: string; since?: Date; all?: boolean; json?: true };

function defineReplay(command: Command, shell: Shell): void {
  command
    .command('replay')
    .description(
      'Applies unreadable, failed and unmatched delivery reports again. No delivery report counts twice.',
    )
    .option('--account <name>', 'only of this account')
    .option(
      '--since <time>',
      'only delivery reports received from this time on, such as 2026-11-21 or 2026-11-21T08:00:00Z',
      parseTime,
    )
    .option('--all', 'replay all, also applied ones')
    .option('--json', 'print the result as JSON')
    .action(async ({ account, since, all = false, json }: ReplayOptions) => {
      const rules = await loadDeliveryReportRules(shell.settings);
      let failed = 0;
      const onFailed = (): void => {
        failed++;
      };
      const replayed = await withLedger(shell, async (context) => {
        const count = await replayDeliveryReports(context, { account, since, all });
        await applyInbox(context, { ...rules, onFailed });
        return count;
      });
      shell.print(json ? JSON.stringify({ replayed, failed }) : `${replayed} delivery reports replayed.`);
      if (failed === 0) return;
      shell.note(
        `${failed} delivery reports could not be applied: volley delivery-reports list --state failed.`,
      );
      shell.exitWith(3);
    });
}

function addRunOption(command: Command): Command {
  return command.option('--run <run>', 'only of this run: its id, the beginning of it, or `latest`');
}

async function requireChosenRun(
  shell: Shell,
  context: EngineContext,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined) return undefined;
  return (await requireRun(context, await chooseRun(shell, context, name))).run;
}

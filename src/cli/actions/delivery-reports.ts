import type { DeliveryReportState } from '../../domain/delivery-reports.ts';
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
import type { ListOutput } from '../list-options.ts';
import { printList } from '../print-list.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export type ListOptions = ListOutput & {
  state?: DeliveryReportState[];
  run?: string;
  account?: string;
  address?: string;
};

export type MissingOptions = ListOutput & { run?: string; olderThan: number };

export type ReplayOptions = { account?: string; since?: Date; all?: boolean; json?: true };

export async function listAction(
  shell: Shell,
  { state, run: name, account, address, ...output }: ListOptions,
): Promise<void> {
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
}

export async function missingAction(
  shell: Shell,
  { run: name, olderThan, ...output }: MissingOptions,
): Promise<void> {
  await withLedgerToRead(shell, async (context) => {
    const run = await requireChosenRun(shell, context, name);
    const filter = { run, until: new Date(context.now().getTime() - olderThan) };
    const form = { table: missingTable, columns: missingColumns, none: 'No delivery report is missing.' };
    await printList(shell, output, form, (limit, onPage) =>
      listMissing(context.ledger.pool, filter, limit, onPage),
    );
  });
}

export async function replayAction(
  shell: Shell,
  { account, since, all = false, json }: ReplayOptions,
): Promise<void> {
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
  shell.note(`${failed} delivery reports could not be applied: volley delivery-reports list --state failed.`);
  shell.exitWith(3);
}

/** The states that need attention. */
const noteworthy: readonly DeliveryReportState[] = [
  'conflicting',
  'unmatched',
  'inbound',
  'unreadable',
  'failed',
];

async function requireChosenRun(
  shell: Shell,
  context: EngineContext,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined) return undefined;
  return (await requireRun(context, await chooseRun(shell, context, name))).run;
}

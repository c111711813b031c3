import { deliveryReportStates } from '../../domain/delivery-reports.ts';
import { argument, defineCommand, defineGroup, flag, option } from '../command.ts';
import { loadDurationReader, statesReader } from '../option-readers.ts';
import {
  anyRunArgument,
  formerRunOption,
  jsonFlag,
  listOptions,
  lookUpExits,
  runArgument,
  sinceOption,
} from '../options.ts';
import { withLedger, withLedgerToRead } from '../shell.ts';

const list = defineCommand({
  description: 'Lists delivery reports that need a person, and replies, in the order of arrival.',
  arguments: [anyRunArgument],
  options: [
    formerRunOption,
    ...listOptions,
    option('--state <state...>', 'those in these states instead', {
      choices: deliveryReportStates,
      read: statesReader(deliveryReportStates),
    }),
    option('--account <name>', 'only of this account'),
    option('--address <address>', 'only of this address'),
  ],
  examples: [['volley delivery-reports list --state unmatched', 'find reports of no message']],
  run: async (shell, [name], { state, run: former, account, address, ...output }) => {
    const { listDeliveryReports } = await import('../../ledger/delivery-reports/list.ts');
    const { unresolvedStates } = await import('../../ledger/delivery-reports/list.ts');
    const { deliveryReportColumns: columns } = await import('../../report/lists/delivery-reports.ts');
    const { printList } = await import('../output/print-list.ts');
    const { chooseAnyRun } = await import('../runs/choose-run.ts');
    await withLedgerToRead(shell, async (context) => {
      const run = await chooseAnyRun(shell, context, name ?? former);
      const filter = {
        states: state ?? unresolvedStates,
        partlyRead: state === undefined,
        run,
        account,
        address,
      };
      const form = { columns, none: 'No such delivery reports.' };
      await printList(shell, output, form, (limit, onPage) =>
        listDeliveryReports(context.ledger.pool, filter, limit, onPage),
      );
    });
  },
});

const missing = defineCommand({
  description: 'Lists accepted recipients without a final delivery report, oldest first.',
  arguments: [anyRunArgument],
  options: [
    formerRunOption,
    ...listOptions,
    option('--older-than <duration>', 'accepted at least this long ago', {
      loadReader: loadDurationReader,
      default: 0,
    }),
  ],
  examples: [['volley delivery-reports missing --older-than 2d', 'find recipients without a final report']],
  run: async (shell, [name], { run: former, olderThan, ...output }) => {
    const { listMissing } = await import('../../ledger/delivery-reports/missing.ts');
    const { missingColumns: columns } = await import('../../report/lists/delivery-reports.ts');
    const { printList } = await import('../output/print-list.ts');
    const { chooseAnyRun } = await import('../runs/choose-run.ts');
    await withLedgerToRead(shell, async (context) => {
      const run = await chooseAnyRun(shell, context, name ?? former);
      const filter = { run, until: new Date(context.now().getTime() - olderThan) };
      const form = { columns, none: 'No delivery report is missing.' };
      await printList(shell, output, form, (limit, onPage) =>
        listMissing(context.ledger.pool, filter, limit, onPage),
      );
    });
  },
});

const poll = defineCommand({
  description:
    'Asks the service about accepted requests without a final delivery report, one a second (statusLookUp).',
  arguments: [argument('<run>', runArgument)],
  options: [jsonFlag],
  exits: {
    3: 'an answer of the service was unclear',
    ...lookUpExits,
  },
  examples: [['volley delivery-reports poll latest', 'ask the service for the missing reports']],
  run: async (shell, [name], { json }) => {
    const { pollRun } = await import('../../engine/delivery-reports/poll-jobs.ts');
    const { requireRun } = await import('../../engine/runs/find-run.ts');
    const { printable } = await import('../../report/printable.ts');
    const { chooseRun } = await import('../runs/choose-run.ts');
    const { printLookUps } = await import('../runs/print-look-ups.ts');
    await withLedger(shell, async (context) => {
      const { run, account } = await requireRun(context, await chooseRun(shell, context, name));
      await printLookUps(shell, { run, json }, () =>
        pollRun(
          context,
          shell.settings,
          { run, account },
          {
            stop: shell.stop,
            onUnclear: (messageId, { reason }) => shell.note(`${messageId}: ${printable(reason)}`),
          },
        ),
      );
    });
  },
});

const replay = defineCommand({
  description: 'Applies unreadable, failed and unmatched delivery reports again. None counts twice.',
  options: [
    option('--account <name>', 'only of this account'),
    sinceOption('only those received from this time on'),
    flag('--all', 'also applied ones'),
    jsonFlag,
  ],
  exits: { 3: 'a delivery report could not be applied' },
  examples: [['volley delivery-reports replay --all', 'apply unmatched reports again']],
  run: async (shell, _, { account, since: past, all = false, json }) => {
    const { applyInbox, replayDeliveryReports } = await import(
      '../../engine/delivery-reports/apply-inbox.ts'
    );
    const { loadDeliveryReportRules } = await import('../../engine/delivery-reports/receiver-accounts.ts');
    const { count } = await import('../../platform/sentence.ts');
    const rules = await loadDeliveryReportRules(shell.settings);
    let failed = 0;
    const onFailed = (): void => {
      failed++;
    };
    const replayed = await withLedger(shell, async (context) => {
      const since = past?.(shell.now());
      const read = await replayDeliveryReports(context, { account, since, all });
      await applyInbox(context, { ...rules, onFailed });
      return read;
    });
    shell.print(
      json ? JSON.stringify({ replayed, failed }) : `${count(replayed, 'delivery report')} replayed.`,
    );
    if (failed === 0) return;
    shell.note(
      `${count(failed, 'delivery report')} could not be applied: volley delivery-reports list --state failed.`,
    );
    shell.exitWith(3);
  },
});

export const command = defineGroup(
  'Lists delivery reports and replies, lists missing delivery reports and looks them up, and replays stored ones.',
  { list, missing, poll, replay },
);

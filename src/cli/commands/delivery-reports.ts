import { deliveryReportStates } from '../../domain/delivery-reports.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { PollEnd } from '../../engine/delivery-reports/poll.ts';
import { argument, defineCommand, defineGroup, flag, option } from '../command.ts';
import type { ExitCode } from '../exit-codes.ts';
import { listOptions, loadDurationReader, parseTime, runArgument, statesReader } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

const runOption = option('--run <run>', 'only of this run: its id, the beginning of it, or `latest`');

const list = defineCommand({
  description:
    'Lists delivery reports in the order of arrival: conflicting, unmatched, unreadable (or with an unreadable price) and failed ones, and replies.',
  options: [
    runOption,
    ...listOptions,
    option('--state <state...>', 'delivery reports in these states instead', {
      choices: deliveryReportStates,
      read: statesReader(deliveryReportStates),
    }),
    option('--account <name>', 'only of this account'),
    option('--address <address>', 'only of this address, as the service writes it'),
  ],
  examples: [['volley delivery-reports list --state unmatched', 'find reports of no message']],
  run: async (shell, _, { state, run: name, account, address, ...output }) => {
    const { listDeliveryReports } = await import('../../ledger/delivery-reports/list.ts');
    const { unresolvedStates } = await import('../../ledger/delivery-reports/list.ts');
    const { deliveryReportColumns: columns } = await import('../../report/lists/delivery-reports.ts');
    const { printList } = await import('../print-list.ts');
    await withLedgerToRead(shell, async (context) => {
      const run = await requireChosenRun(shell, context, name);
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
  options: [
    runOption,
    ...listOptions,
    option('--older-than <duration>', 'accepted at least this long ago', {
      late: loadDurationReader,
      otherwise: 0,
    }),
  ],
  examples: [['volley delivery-reports missing --older-than 2d', 'find recipients without a final report']],
  run: async (shell, _, { run: name, olderThan, ...output }) => {
    const { listMissing } = await import('../../ledger/delivery-reports/missing.ts');
    const { missingColumns: columns } = await import('../../report/lists/delivery-reports.ts');
    const { printList } = await import('../print-list.ts');
    await withLedgerToRead(shell, async (context) => {
      const run = await requireChosenRun(shell, context, name);
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
    'Looks up accepted requests of a run without final delivery reports, one a second. The account needs statusLookUp: on.',
  arguments: [argument('<run>', runArgument)],
  options: [flag('--json', 'print the result as JSON')],
  exits: {
    3: 'an answer of the service was unclear',
    4: 'the service refused the credential',
    130: 'stopped before the end',
  },
  examples: [['volley delivery-reports poll latest', 'ask the service for the missing reports']],
  run: async (shell, [name], { json }) => {
    const { pollRun } = await import('../../engine/delivery-reports/poll-jobs.ts');
    const { requireRun } = await import('../../engine/runs/find-run.ts');
    const { formatPoll, refusedText } = await import('../../report/delivery-reports.ts');
    const { printable } = await import('../../report/printable.ts');
    const { chooseRun } = await import('../choose-run.ts');
    let run = name;
    const end = await withLedger(shell, async (context) => {
      run = await chooseRun(shell, context, name);
      const { account } = await requireRun(context, run);
      shell.drainOnStop(() => 'Volley waits for one more answer of the service.');
      const polled = { run, account };
      return await pollRun(context, shell.settings, polled, {
        stop: shell.stop,
        onUnclear: (messageId, { reason }) => shell.note(`${messageId}: ${printable(reason)}`),
      });
    });
    const { kind: _, ...result } = { run, ...end };
    shell.print(json ? JSON.stringify(result) : formatPoll(end));
    if (end.kind === 'refused') shell.note(refusedText(end.words.map(printable).join('; ')));
    shell.exitWith(exitCodeOf(end));
  },
});

const replay = defineCommand({
  description:
    'Applies unreadable, failed and unmatched delivery reports again. No delivery report counts twice.',
  options: [
    option('--account <name>', 'only of this account'),
    option(
      '--since <time>',
      'only delivery reports received from this time on, such as 2026-11-21 or 2026-11-21T08:00:00Z',
      { read: parseTime },
    ),
    flag('--all', 'replay all, also applied ones'),
    flag('--json', 'print the result as JSON'),
  ],
  exits: { 3: 'a delivery report could not be applied' },
  examples: [['volley delivery-reports replay --all', 'apply unmatched reports again']],
  run: async (shell, _, { account, since, all = false, json }) => {
    const { applyInbox, replayDeliveryReports } = await import(
      '../../engine/delivery-reports/apply-inbox.ts'
    );
    const { loadDeliveryReportRules } = await import('../../engine/delivery-reports/receiver-accounts.ts');
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
  },
});

export const command = defineGroup(
  'Lists delivery reports and replies, lists missing delivery reports and looks them up, and replays stored ones.',
  { list, missing, poll, replay },
);

function exitCodeOf(end: PollEnd): ExitCode {
  if (end.kind === 'refused') return 4;
  if (end.kind === 'stopped') return 130;
  return end.unclear > 0 ? 3 : 0;
}

async function requireChosenRun(
  shell: Shell,
  context: EngineContext,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined) return undefined;
  const { requireRun } = await import('../../engine/runs/find-run.ts');
  const { chooseRun } = await import('../choose-run.ts');
  return (await requireRun(context, await chooseRun(shell, context, name))).run;
}

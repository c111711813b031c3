import type { Command } from 'commander';
import { requireRun } from '../../engine/find-run.ts';
import { loadAccount } from '../../engine/prepare.ts';
import { requireReachable } from '../../engine/reachable.ts';
import { dispatchAndPrint } from '../run-steps.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Goes on with a planned, paused or interrupted run. Requests that were on their way when the process died become in_doubt and are not sent again.',
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--json', "print the run's summary as JSON")
    .action(async (runId: string, { json }: { json?: true }) => {
      await withLedger(shell, async (context) => {
        const { account: name } = await requireRun(context, runId);
        const account = await loadAccount(name, shell.settings);
        await requireReachable(account);
        await dispatchAndPrint(shell, context, runId, account, json === true);
      });
    });
}

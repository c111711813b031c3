import type { Command } from 'commander';
import { applyInbox } from '../../engine/delivery-reports/apply-inbox.ts';
import { type PollEnd, pollReports } from '../../engine/delivery-reports/poll.ts';
import { loadDeliveryReportRules } from '../../engine/delivery-reports/receiver-accounts.ts';
import { createRateLimiter } from '../../engine/dispatch/rate-limiter.ts';
import { loadAccount } from '../../engine/load-account.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { openGateway } from '../../gateway/gateway.ts';
import { formatPoll } from '../../report/delivery-reports.ts';
import { printable } from '../../report/printable.ts';
import { chooseRun, runArgument } from '../choose-run.ts';
import { type Shell, withLedger } from '../shell.ts';

export function definePoll(command: Command, shell: Shell): void {
  command
    .command('poll')
    .description(
      'Looks up accepted requests of a run without final delivery reports, one a second. The account needs statusLookUp: on.',
    )
    .argument('<run>', runArgument)
    .option('--json', 'print the result as JSON')
    .action(async (name: string, { json }: { json?: true }) => {
      const rules = await loadDeliveryReportRules(shell.settings);
      let run = name;
      const end = await withLedger(shell, async (context) => {
        run = await chooseRun(shell, context, name);
        const { account: accountName } = await requireRun(context, run);
        const account = await loadAccount(accountName, shell.settings);
        const gateway = openGateway(account);
        shell.drainOnStop(() => 'Volley waits for one more answer of the service.');
        try {
          const rate = createRateLimiter(context, account);
          const work = { account, gateway, rate, run, acceptedWithin: context.now().getTime() };
          return await pollReports(context, work, shell.stop, (messageId, { reason }) =>
            shell.note(`${messageId}: ${printable(reason)}`),
          );
        } finally {
          await applyInbox(context, rules);
          await gateway.close();
        }
      });
      const { kind: _, ...result } = { run, ...end };
      shell.print(json ? JSON.stringify(result) : formatPoll(end));
      if (end.kind === 'refused')
        shell.note(`The service refused the credential: ${end.words.map(printable).join('; ')}`);
      shell.exitWith(exitCodeOf(end));
    });
}

function exitCodeOf(end: PollEnd) {
  if (end.kind === 'refused') return 4;
  if (end.kind === 'stopped') return 130;
  return end.unclear > 0 ? 3 : 0;
}

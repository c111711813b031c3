import type { Command } from 'commander';
import { requireStatus } from '../../engine/reporting/run-status.ts';
import { latest } from '../../engine/runs/named-run.ts';
import type { ClockStep } from '../../ledger/limits/clock.ts';
import { heldLedgerAdvice } from '../../platform/reason-text.ts';
import { notificationLines } from '../../report/notifications.ts';
import { printable } from '../../report/printable.ts';
import { formatRunSummary } from '../../report/run-summary.ts';
import type { Screen } from '../../report/screen.ts';
import { formatRefusalWithRetry } from '../../report/service-refusal.ts';
import { formatTime, screenZone } from '../../report/time.ts';
import { chooseRun, runArgument } from '../choose-run.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description('Shows a run in numbers: contacts, requests and recipients by state, and its notifications.')
    .argument('[run]', `${runArgument}; without one, the newest run`)
    .option('--json', 'print the summary as JSON')
    .action(async (name: string | undefined, { json }: { json?: true }) => {
      await withLedgerToRead(shell, async (context) => {
        const run = await chooseRun(shell, context, name ?? latest);
        const status = await requireStatus(context, run);
        if (json) {
          shell.print(JSON.stringify(status));
          return;
        }
        const { reason, phase, preemptedBy, refusal, clockStep, held } = status;
        shell.print(formatRunSummary(status, shell.screen));
        if (reason) shell.print(`  because     ${printable(reason)}`);
        if (phase === 'settling doubts') {
          shell.print(
            '  phase       settling doubts: everything else is sent, and requests in doubt are being resolved',
          );
        }
        if (preemptedBy) shell.print(`  waits       for the more urgent run ${preemptedBy}`);
        if (refusal) shell.print(`  waits       because ${formatRefusalWithRetry(refusal, shell.screen)}`);
        if (clockStep) shell.print(`  clock       ${steppedBack(clockStep, shell.screen)}`);
        if (held) shell.print(`  held        ${printable(`${held} ${heldLedgerAdvice}`)}`);
        for (const line of notificationLines(status.notifications)) shell.print(line);
      });
    });
}

function steppedBack({ at, seconds }: ClockStep, screen: Screen): string {
  return `the database's clock was set back by ${seconds.toFixed(1)} s at ${formatTime(screen, at)} ${screenZone(screen)}; rate limits still hold, but times before and after cannot be compared`;
}

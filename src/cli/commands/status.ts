import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import { type RunStatus, requireStatus } from '../../engine/reporting/run-status.ts';
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
import { parseSeconds } from '../options.ts';
import { type ExitCode, type Shell, withLedgerToRead } from '../shell.ts';

type StatusOptions = {
  readonly json?: true;
  readonly watch?: true;
  readonly interval?: number;
  readonly exitStatus?: true;
};

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Shows a run in numbers: contacts, requests and recipients by state, and its notifications. With --watch, shows its progress until it is over.',
    )
    .argument('[run]', `${runArgument}; without one, the newest run`)
    .option(
      '--watch',
      'show the progress until the run is completed or cancelled: redrawn on a terminal, otherwise a line for each change',
    )
    .option(
      '--interval <seconds>',
      'with --watch, how often to look (default: 1, for lines of text 5)',
      parseSeconds,
    )
    .option(
      '--exit-status',
      'end with 3 if requests were not accepted, and with 4 if the run is paused or cancelled',
    )
    .option('--json', 'print the summary as JSON; with --watch, first a line for each change')
    .action(async (name: string | undefined, options: StatusOptions) => {
      const { json = false, watch, interval, exitStatus } = options;
      if (interval !== undefined && !watch)
        throw new InputError([{ where: '--interval', what: 'It needs --watch.' }]);
      await withLedgerToRead(shell, async (context) => {
        const run = await chooseRun(shell, context, name ?? latest);
        const watching = watch && (await import('../watch-status.ts'));
        const status = watching
          ? await watching.watchStatus(shell, context, run, { json, interval })
          : await requireStatus(context, run);
        shell.print(json ? JSON.stringify(status) : statusLines(status, shell.screen).join('\n'));
        if (exitStatus) shell.exitWith(exitCodeOf(status));
      });
    });
}

function statusLines(status: RunStatus, screen: Screen): string[] {
  const { reason, phase, preemptedBy, refusal, clockStep, held } = status;
  const settling = 'settling doubts: everything else is sent, and requests in doubt are being resolved';
  return [
    formatRunSummary(status, screen),
    ...(reason ? [`  because     ${printable(reason)}`] : []),
    ...(phase === 'settling doubts' ? [`  phase       ${settling}`] : []),
    ...(preemptedBy ? [`  waits       for the more urgent run ${preemptedBy}`] : []),
    ...(refusal ? [`  waits       because ${formatRefusalWithRetry(refusal, screen)}`] : []),
    ...(clockStep ? [`  clock       ${steppedBack(clockStep, screen)}`] : []),
    ...(held ? [`  held        ${printable(`${held} ${heldLedgerAdvice}`)}`] : []),
    ...notificationLines(status.notifications),
  ];
}

/** As the command that sends the run. */
function exitCodeOf({ state, requests }: RunStatus): ExitCode {
  if (state === 'paused' || state === 'cancelled') return 4;
  return requests.rejected + requests.failed + requests.in_doubt + requests.abandoned > 0 ? 3 : 0;
}

function steppedBack({ at, seconds }: ClockStep, screen: Screen): string {
  return `the database's clock was set back by ${seconds.toFixed(1)} s at ${formatTime(screen, at)} ${screenZone(screen)}; rate limits still hold, but times before and after cannot be compared`;
}

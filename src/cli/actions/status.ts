import { InputError } from '../../domain/problems.ts';
import { type RunStatus, requireStatus } from '../../engine/reporting/run-status.ts';
import { latest } from '../../engine/runs/named-run.ts';
import type { ClockStep } from '../../ledger/limits/clock.ts';
import { heldLedgerAdvice } from '../../platform/reason-text.ts';
import { describeUnapplied } from '../../platform/unapplied-reports-text.ts';
import { notificationLines } from '../../report/notifications.ts';
import { printable } from '../../report/printable.ts';
import { formatRunSummary } from '../../report/run-summary.ts';
import type { Screen } from '../../report/screen.ts';
import { formatRefusalWithRetry } from '../../report/service-refusal.ts';
import { formatTime, screenZone } from '../../report/time.ts';
import { chooseRun } from '../choose-run.ts';
import { type ExitCode, type Shell, withLedgerToRead } from '../shell.ts';

export type StatusOptions = {
  readonly json?: true;
  readonly watch?: true;
  readonly interval?: number;
  readonly exitStatus?: true;
};

export async function statusAction(
  shell: Shell,
  name: string | undefined,
  options: StatusOptions,
): Promise<void> {
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
}

function statusLines(status: RunStatus, screen: Screen): string[] {
  const { run, reason, phase, unattended, preemptedBy, refusal, clockStep, held, unappliedReports } = status;
  const settling = 'settling doubts: everything else is sent, and requests in doubt are being resolved';
  return [
    formatRunSummary(status, screen),
    ...(reason ? [`  because     ${printable(reason)}`] : []),
    ...(phase === 'settling doubts' ? [`  phase       ${settling}`] : []),
    ...(unattended
      ? [`  waits       because no process sends it: \`volley resume ${run}\` continues it`]
      : []),
    ...(preemptedBy ? [`  waits       for the more urgent run ${preemptedBy}`] : []),
    ...(refusal ? [`  waits       because ${formatRefusalWithRetry(refusal, screen)}`] : []),
    ...(clockStep ? [`  clock       ${steppedBack(clockStep, screen)}`] : []),
    ...(held ? [`  held        ${printable(`${held} ${heldLedgerAdvice}`)}`] : []),
    ...(unappliedReports ? describeUnapplied(unappliedReports, (time) => zonedTime(time, screen)) : []).map(
      (what) => `  reports     ${what}`,
    ),
    ...notificationLines(status.notifications),
  ];
}

/** As the command that sends the run. */
function exitCodeOf({ state, requests }: RunStatus): ExitCode {
  if (state === 'paused' || state === 'cancelled') return 4;
  return requests.rejected + requests.failed + requests.in_doubt + requests.abandoned > 0 ? 3 : 0;
}

function steppedBack({ at, seconds }: ClockStep, screen: Screen): string {
  return `the database's clock was set back by ${seconds.toFixed(1)} s at ${zonedTime(at, screen)}; rate limits still hold, but times before and after cannot be compared`;
}

function zonedTime(time: Date, screen: Screen): string {
  return `${formatTime(screen, time)} ${screenZone(screen)}`;
}

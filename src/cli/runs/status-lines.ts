import { nextStepText } from '../../domain/next-step.ts';
import type { RunStatus } from '../../engine/reporting/run-status.ts';
import { describeUnapplied } from '../../platform/unapplied-reports-text.ts';
import { variantResultColumns } from '../../report/lists/variants.ts';
import { notificationLines } from '../../report/notifications.ts';
import { printable } from '../../report/printable.ts';
import { formatRunSummary } from '../../report/run/run-summary.ts';
import type { Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, screenZone } from '../../report/time.ts';
import { settlingText, waitLines } from '../../report/wait-words.ts';
import { type ExitCode, exitCodeOfRequests } from '../exit-codes.ts';

export function statusLines(status: RunStatus, screen: Screen): string[] {
  const { run, reason, phase, waitsFor, clockStep, unappliedReports } = status;
  return [
    formatRunSummary(status, screen),
    ...(reason ? [`  because     ${printable(reason)}`] : []),
    ...(phase === 'settling doubts' ? [`  phase       ${phase}: ${settlingText}`] : []),
    ...decisionLines(status, screen),
    ...waitLines(waitsFor, run, screenZone(screen)),
    ...(clockStep
      ? [
          `  clock       the database's clock was set back by ${clockStep.seconds.toFixed(1)} s at ${zonedTime(clockStep.at, screen)}; rate limits still hold, but times before and after cannot be compared`,
        ]
      : []),
    ...(unappliedReports ? describeUnapplied(unappliedReports, (time) => zonedTime(time, screen)) : []).map(
      (what) => `  reports     ${nextStepText(what)}`,
    ),
    ...notificationLines(status.notifications),
    ...(status.variants.length > 0 ? [formatTable(variantResultColumns, status.variants, screen)] : []),
  ];
}

function decisionLines({ decisions }: RunStatus, screen: Screen): string[] {
  return decisions.map(({ decidedAt, kind, byUser, reason, why }) => {
    const by = byUser === null ? '' : ` by ${byUser}: ${reason ?? 'no reason'}`;
    return `  decided     ${zonedTime(decidedAt, screen)}, ${kind}${printable(by)}. ${printable(why)}`;
  });
}

/** Equals the exit code of the command that sends the run. */
export function exitCodeOf({ state, requests }: RunStatus): ExitCode {
  return state === 'paused' || state === 'cancelled' ? 4 : exitCodeOfRequests(requests);
}

function zonedTime(time: Date, screen: Screen): string {
  return `${formatTime(screen, time)} ${screenZone(screen)}`;
}

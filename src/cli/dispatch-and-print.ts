import { isInterruption } from '../domain/reasons.ts';
import { bookBilling } from '../engine/billing/billing.ts';
import type { EngineContext } from '../engine/context.ts';
import { cutOffAfter } from '../engine/dispatch/drain.ts';
import { executeRun, type KnownEnd, type RunEnd } from '../engine/runs/execute-run.ts';
import { requireSummary } from '../engine/runs/find-run.ts';
import type { Account } from '../gateway/account.ts';
import { findApproval } from '../ledger/approvals/approvals.ts';
import type { BeginOptions } from '../ledger/runs/begin.ts';
import { formatReason } from '../platform/reason-text.ts';
import { printable } from '../report/printable.ts';
import { formatRunSummary } from '../report/run-summary.ts';
import { accountLoader } from './account-loader.ts';
import { afterRecording } from './after-recording.ts';
import { startRunProgress } from './progress.ts';
import type { ExitCode, Shell } from './shell.ts';

/** What a process that sends waits for, once it was asked to stop. */
export function drainText(run?: string): string {
  const goesOn = run === undefined ? '' : ` \`volley resume ${run}\` goes on later.`;
  return `Nothing new is sent; waiting for the answers to the requests that are on their way, at most ${cutOffAfter / 1000} s. Those that are not answered by then are in doubt.${goesOn}`;
}

const recordingText = 'Everything is answered; waiting until that is recorded, a few seconds at most.';

/** Dispatch with a progress bar. From here on, Ctrl-C drains. */
export async function dispatchWithProgress(
  shell: Shell,
  context: EngineContext,
  run: string,
  account: Account,
  options?: Pick<BeginOptions, 'includePaused'>,
): Promise<RunEnd> {
  const progress = await startRunProgress(shell);
  shell.drainOnStop(() => (progress.isAllSettled() ? recordingText : drainText(run)));
  try {
    return await executeRun(context, run, accountLoader(shell, account), shell.stop, progress, options);
  } finally {
    progress.done();
  }
}

export async function dispatchAndPrint(
  shell: Shell,
  context: EngineContext,
  run: string,
  account: Account,
  {
    json,
    ownCampaign,
    ...options
  }: {
    readonly json: boolean;
    readonly ownCampaign?: string;
  } & Pick<BeginOptions, 'includePaused'>,
): Promise<ExitCode> {
  const waits = await findApproval(context.ledger.pool, run);
  if (waits && waits.approvedAt === null) {
    shell.note(
      `Run ${run} waits for approval by another person than ${waits.plannedBy} (${printable(formatReason(waits.reason))}): \`volley approve ${run}\`, then \`volley resume ${run}\`.`,
    );
    const summary = await requireSummary(context, run);
    shell.print(json ? JSON.stringify(summary) : formatRunSummary(summary, shell.screen));
    return 4;
  }
  const notifying = loadLater(() => import('./notify-about-run.ts'));
  const end = await dispatchWithProgress(shell, context, run, account, options);
  if (!('summary' in end)) return leaveDuringOutage(shell, run, end);
  printEnd(shell, run, end, json);
  await afterRecording(shell, async () => {
    const { notifyAboutRun } = await notifying();
    await notifyAboutRun(shell, context, run, ownCampaign);
    // Reports count what is not booked, so a process that is asked to stop leaves it to others.
    if (!shell.stop.aborted) await bookBilling(context, () => !shell.stop.aborted);
  });
  return exitCodeOf(end);
}

/**
 * Modules for the end of a run: loaded after its first requests have left, and not at its end, when their files may have
 * been replaced by those of a newer Volley.
 */
function loadLater<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  const timer = setTimeout(() => {
    loading = load();
    // Whoever asks for it meets the failure.
    loading.catch(() => undefined);
  }, 1_000);
  return () => {
    clearTimeout(timer);
    loading ??= load();
    return loading;
  };
}

/** Leaves at once, because the database is away: what can be said of the run is said from what this process knows. */
function leaveDuringOutage(shell: Shell, run: string, end: Exclude<RunEnd, KnownEnd>): never {
  switch (end.kind) {
    case 'idle':
      shell.note(
        `The database was away until the end; all that this process had sent was recorded before. \`volley resume ${run}\` goes on.`,
      );
      return shell.leave(130);
    case 'unrecorded':
      shell.note(
        `The database was away until the end. What could not be recorded is in doubt; \`volley resume ${run}\` says what, and goes on.`,
      );
      return shell.leave(130);
    case 'recorded': {
      const { state, stateReason, total, notAccepted } = end.watch;
      const counts = `${total} requests, ${notAccepted} of them not accepted`;
      shell.note(
        `The database was away until the end, after all of the run had been recorded: it is ${state} (${counts}). \`volley status ${run}\` shows it.`,
      );
      if (state === 'completed') return shell.leave(notAccepted > 0 ? 3 : 0);
      return shell.leave(isInterruption(stateReason) ? 130 : 4);
    }
  }
}

/** Prints what a run came to, and what an operator can do next. */
export function printEnd(shell: Shell, run: string, end: KnownEnd, json: boolean): void {
  const { summary } = end;
  shell.print(json ? JSON.stringify(summary) : formatRunSummary(summary, shell.screen));
  if (end.kind === 'drained') shell.note(`Interrupted. \`volley resume ${run}\` goes on.`);
  if (end.kind === 'paused' || end.kind === 'cancelled') {
    const next = end.kind === 'paused' ? ` \`volley resume ${run}\` goes on.` : '';
    shell.note(`The run is ${end.kind}: ${printable(end.reason)}.${next}`);
  }
  if (summary.requests.in_doubt > 0) {
    shell.note(
      `${summary.requests.in_doubt} requests are in doubt: the service may have taken them. \`volley resolve ${run}\` lists them.`,
    );
  }
}

export function exitCodeOf({ kind, summary: { requests } }: KnownEnd): ExitCode {
  switch (kind) {
    case 'paused':
    case 'cancelled':
      return 4;
    case 'drained':
      return 130;
    case 'finished':
      return requests.rejected + requests.failed + requests.in_doubt + requests.abandoned > 0 ? 3 : 0;
  }
}

import { formatReason, isInterruption } from '../../domain/reasons.ts';
import { bookBilling } from '../../engine/billing/billing.ts';
import type { EngineContext } from '../../engine/context.ts';
import { cutOffAfter } from '../../engine/dispatch/drain.ts';
import {
  type ExecuteOptions,
  executeRun,
  type KnownEnd,
  type RunEnd,
} from '../../engine/runs/execute-run.ts';
import { requireSummary } from '../../engine/runs/find-run.ts';
import type { Account } from '../../gateway/account.ts';
import { findApproval } from '../../ledger/approvals/approvals.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../../report/printable.ts';
import { formatRunSummary } from '../../report/run/run-summary.ts';
import { screenZone } from '../../report/time.ts';
import { waitWords } from '../../report/wait-words.ts';
import { type ExitCode, exitCodeOfRequests } from '../exit-codes.ts';
import { afterRecording } from '../failures.ts';
import type { Shell } from '../shell.ts';
import { startRunProgress } from './progress.ts';
import { accountLoader, type Surroundings } from './surroundings.ts';

export function drainText(run?: string): string {
  const goesOn = run === undefined ? '' : ` \`volley resume ${run}\` continues it later.`;
  return `Volley sends nothing new, and waits up to ${cutOffAfter / 1000} s for answers to requests in flight. Requests without an answer are then in doubt.${goesOn}`;
}

const recordingText = 'Everything is answered. Volley records the answers, for a few seconds at most.';

/** From here on, Ctrl-C drains. */
export async function dispatchWithProgress(
  shell: Shell,
  context: EngineContext,
  { run, account, ...options }: ExecuteOptions & { readonly run: string; readonly account: Account },
): Promise<RunEnd> {
  const progress = await startRunProgress(shell);
  shell.drainOnStop(() => (progress.isAllSettled() ? recordingText : drainText(run)));
  try {
    return await executeRun(context, run, {
      accountNamed: accountLoader(shell, account),
      stop: shell.stop,
      events: progress,
      ...options,
    });
  } finally {
    progress.done();
  }
}

export async function dispatchAndPrint(
  shell: Shell,
  context: EngineContext,
  {
    run,
    account,
    json,
    ownCampaign,
    awaitReports,
    ...options
  }: {
    readonly json: boolean;
    readonly ownCampaign?: string;
    /** Waits for the delivery reports of a finished run, before its summary is printed. */
    readonly awaitReports?: Surroundings['awaitReports'];
  } & ExecuteOptions & { readonly run: string; readonly account: Account },
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
  const end = await dispatchWithProgress(shell, context, { run, account, ...options });
  if (!('summary' in end)) return leaveDuringOutage(shell, run, end);
  const isAwaited = end.kind === 'finished' && awaitReports !== undefined;
  printEnd(shell, run, isAwaited ? { ...end, summary: await awaitReports(run) } : end, json);
  await afterRecording(shell, async () => {
    const { notifyAboutRun } = await notifying();
    await notifyAboutRun(shell, context, run, ownCampaign);
    // Reports count unbooked requests too, so a process that stops leaves booking to others.
    if (!shell.stop.aborted) await bookBilling(context, () => !shell.stop.aborted);
  });
  return exitCodeOf(end);
}

/** Loads modules a second after the start of a run: at its end, a newer Volley could have replaced their files. */
function loadLater<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  const timer = setTimeout(() => {
    loading = load();
    // The caller gets the failure later.
    loading.catch(() => undefined);
  }, 1_000);
  return () => {
    clearTimeout(timer);
    loading ??= load();
    return loading;
  };
}

function leaveDuringOutage(shell: Shell, run: string, end: Exclude<RunEnd, KnownEnd>): never {
  const note = (text: string): void => shell.note(`Database outage until the end. ${text}`);
  switch (end.kind) {
    case 'idle':
      note(
        `Everything that this process sent was recorded before. \`volley resume ${run}\` continues the run.`,
      );
      return shell.leave(130);
    case 'unrecorded':
      note(
        `What could not be recorded is in doubt. \`volley resume ${run}\` lists it and continues the run.`,
      );
      return shell.leave(130);
    case 'recorded': {
      const { state, stateReason, total, notAccepted } = end.progress;
      const counts = `${count(total, 'request')}, ${notAccepted} of them not accepted`;
      note(
        `All of the run was recorded before: it is ${state} (${counts}). \`volley status ${run}\` shows it.`,
      );
      if (state === 'completed') return shell.leave(notAccepted > 0 ? 3 : 0);
      return shell.leave(isInterruption(stateReason) ? 130 : 4);
    }
  }
}

export function printEnd(shell: Shell, run: string, end: KnownEnd, json: boolean): void {
  const { summary } = end;
  shell.print(json ? JSON.stringify(summary) : formatRunSummary(summary, shell.screen));
  if (end.kind === 'drained') shell.note(`Interrupted. \`volley resume ${run}\` continues the run.`);
  if (end.kind === 'paused' || end.kind === 'cancelled') {
    const next = end.kind === 'paused' ? ` ${nextCommand(run, end)}` : '';
    shell.note(`The run is ${end.kind}: ${printable(end.reason)}.${next}`);
  }
  const { in_doubt: requests } = summary.requests;
  if (requests > 0) {
    const { what } = waitWords({ kind: 'doubts', requests }, screenZone(shell.noteScreen));
    shell.note(`${what} \`volley resolve ${run}\` lists ${requests === 1 ? 'it' : 'them'}.`);
  }
}

function nextCommand(run: string, { isByCanary }: Extract<KnownEnd, { kind: 'paused' }>): string {
  const resume = `\`volley resume ${run}\``;
  if (!isByCanary) return `${resume} continues it.`;
  return `\`volley promote ${run} --reason …\` sends the rest, ${resume} observes its canary again.`;
}

export function exitCodeOf({ kind, summary: { requests } }: KnownEnd): ExitCode {
  switch (kind) {
    case 'paused':
    case 'cancelled':
      return 4;
    case 'drained':
      return 130;
    case 'finished':
      return exitCodeOfRequests(requests);
  }
}

import { differingText } from '../campaign/recipient-guards.ts';
import type { RefusedRun } from '../domain/problems.ts';
import { bookBilling } from '../engine/billing/billing.ts';
import type { EngineContext } from '../engine/context.ts';
import { cutOffAfter } from '../engine/dispatch/drain.ts';
import { lateText } from '../engine/plan/forecast.ts';
import type { KeptFiles } from '../engine/plan/kept-files.ts';
import { noteRefusal, type PlanOptions, type PlanProgress, planRun } from '../engine/plan/plan-run.ts';
import type { PreparedCampaign } from '../engine/plan/prepare.ts';
import { executeRun, type KnownEnd, type RunEnd } from '../engine/runs/execute-run.ts';
import { requireSummary } from '../engine/runs/find-run.ts';
import type { Account } from '../gateway/account.ts';
import { findApproval } from '../ledger/approvals/approvals.ts';
import type { BeginOptions } from '../ledger/runs/begin.ts';
import { printable } from '../report/printable.ts';
import { runSummaryText } from '../report/run-summary.ts';
import { zoneOf } from '../report/time.ts';
import { accountsOf } from './accounts-of.ts';
import { afterRecording } from './after-recording.ts';
import { originLines, unreadableText } from './preview-text.ts';
import { stageText, startProgressLine, startRunProgress } from './progress.ts';
import type { ExitCode, Shell } from './shell.ts';
import { tellOfRefusal, tellOfRun } from './tell-of-run.ts';

/** From so many contacts on, planning takes long enough to be told. */
const manyContacts = 100_000;

/** Import and expand, with a line that counts the contacts. */
export async function planWithProgress(
  shell: Shell,
  context: EngineContext,
  prepared: PreparedCampaign,
  kept: KeptFiles,
  options: Pick<PlanOptions, 'again'>,
): Promise<string> {
  const line = await startProgressLine(shell);
  const startedAt = shell.now().getTime();
  let read = 0;
  let differing: string | undefined;
  let late: string | undefined;
  let origins: readonly string[] = [];
  const onRefused = async (refused: RefusedRun): Promise<void> =>
    afterRecording(shell, async () =>
      tellOfRefusal(shell, context, await noteRefusal(context, prepared, refused), prepared.absolutePath),
    );
  const planProgress: PlanProgress = {
    onRead: (contacts) => {
      read += contacts;
      line.show(() =>
        stageText('reading', shell.now().getTime() - startedAt, {
          part: kept.bytesRead(),
          whole: prepared.contactBytes,
          done: `${read} contacts`,
          count: read,
        }),
      );
    },
    onExpand: () => {
      if (read >= manyContacts) line.turn(`  planning ${read} contacts`);
    },
    onOrigins: (found, reached) => {
      origins = originLines({ ...found, reached });
    },
    onRepeated: (repeated, placeOf) => {
      differing = differingText(repeated, placeOf);
    },
    onForecast: ({ deadline, endsAt }) => {
      if (deadline && deadline.late > 0) late = lateText(deadline, endsAt, zoneOf(shell.noteScreen));
    },
  };
  shell.endsAtOnce(
    'Stopped while planning: nothing was sent. A run is made as a whole or not at all; `volley runs` shows whether it was.',
  );
  const run = await planRun(context, prepared, kept, planProgress, { ...options, onRefused });
  const { filtered } = prepared.found();
  const others = filtered === 0 ? '' : `; ${filtered} more left out by contacts.where`;
  line.done(`  planned  run ${run}: ${read} contacts read${others}`);
  for (const text of origins) shell.note(text);
  if (differing !== undefined) shell.note(`  duplicates ${printable(differing)}`);
  if (late !== undefined) shell.note(`  deadline ${printable(late)}`);
  const unreadable = prepared.suppressionLists.unreadable();
  if (unreadable.lines > 0) for (const text of unreadableText(unreadable)) shell.note(`  ${text}`);
  return run;
}

/** What a process that sends waits for, once it was asked to stop. */
export function waitsForAnswers(run?: string): string {
  const goesOn = run === undefined ? '' : ` \`volley resume ${run}\` goes on later.`;
  return `Nothing new is sent; waiting for the answers to the requests that are on their way, at most ${cutOffAfter / 1000} s. Those that are not answered by then are in doubt.${goesOn}`;
}

const waitsForRecord = 'Everything is answered; waiting until that is recorded, a few seconds at most.';

/** Dispatch with a progress bar. From here on, Ctrl-C drains. */
export async function dispatchWithProgress(
  shell: Shell,
  context: EngineContext,
  run: string,
  account: Account,
  options?: Pick<BeginOptions, 'evenPaused'>,
): Promise<RunEnd> {
  const progress = await startRunProgress(shell);
  shell.drainable(() => (progress.isAllSettled() ? waitsForRecord : waitsForAnswers(run)));
  try {
    return await executeRun(context, run, accountsOf(shell, account), shell.stop, progress, options);
  } finally {
    progress.done();
  }
}

/** Dispatches a run, prints its summary and notifies others of it. */
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
    /** The campaign that was planned by this process. */
    readonly ownCampaign?: string;
  } & Pick<BeginOptions, 'evenPaused'>,
): Promise<ExitCode> {
  const waits = await findApproval(context.ledger.pool, run);
  if (waits && waits.approvedAt === null) {
    shell.note(
      `Run ${run} waits for approval by another person than ${waits.plannedBy} (${printable(waits.reason)}): \`volley approve ${run}\`, then \`volley resume ${run}\`.`,
    );
    const summary = await requireSummary(context, run);
    shell.print(json ? JSON.stringify(summary) : runSummaryText(summary, shell.screen));
    return 4;
  }
  const end = await dispatchWithProgress(shell, context, run, account, options);
  if (!('summary' in end)) return leaveWithout(shell, run, end);
  printEnd(shell, run, end, json);
  await afterRecording(shell, async () => {
    await tellOfRun(shell, context, run, ownCampaign);
    // Reports count what is not booked, so a process that is asked to stop leaves it to others.
    if (!shell.stop.aborted) await bookBilling(context, () => !shell.stop.aborted);
  });
  return exitCodeOf(end);
}

/** Leaves at once, because the database is away: what can be said of the run is said from what this process knows. */
function leaveWithout(shell: Shell, run: string, end: Exclude<RunEnd, KnownEnd>): never {
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
      return shell.leave(stateReason === 'interrupted' ? 130 : 4);
    }
  }
}

/** Prints what a run came to, and what an operator can do next. */
export function printEnd(shell: Shell, run: string, end: KnownEnd, json: boolean): void {
  const { summary } = end;
  shell.print(json ? JSON.stringify(summary) : runSummaryText(summary, shell.screen));
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

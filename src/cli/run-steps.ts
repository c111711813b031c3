import type { RunSummary } from '../domain.ts';
import type { EngineContext } from '../engine/context.ts';
import { executeRun, type RunEnd, requireRun, requireSummary } from '../engine/execute-run.ts';
import type { KeptFiles } from '../engine/kept-files.ts';
import { planRun } from '../engine/plan-run.ts';
import type { PreparedCampaign } from '../engine/prepare.ts';
import type { Account } from '../gateway/account.ts';
import { printable } from '../report/printable.ts';
import { runSummaryText } from '../report/run-summary.ts';
import { unreadableText } from './preview-text.ts';
import { startProgressLine, startRunProgress } from './progress.ts';
import type { ExitCode, Shell } from './shell.ts';

/** From so many contacts on, planning takes long enough to be told. */
const manyContacts = 100_000;

/** Import and expand, with a line that counts the contacts. */
export async function planWithProgress(
  shell: Shell,
  context: EngineContext,
  prepared: PreparedCampaign,
  kept: KeptFiles,
): Promise<string> {
  const line = startProgressLine(shell);
  let read = 0;
  const run = await planRun(context, prepared, kept, {
    onRead: (contacts) => {
      read += contacts;
      line.show(() => `  reading  ${read} contacts`);
    },
    onExpand: () => {
      if (read >= manyContacts) line.turn(`  planning ${read} contacts`);
    },
  });
  const filtered = prepared.filtered();
  const others = filtered === 0 ? '' : `; ${filtered} more left out by contacts.where`;
  line.done(`  planned  run ${run}: ${read} contacts read${others}`);
  const unreadable = prepared.suppressionLists.unreadable();
  if (unreadable.lines > 0) for (const text of unreadableText(unreadable)) shell.note(`  ${text}`);
  return run;
}

/** Dispatch with a progress bar. From here on, Ctrl-C drains. */
export async function dispatchWithProgress(
  shell: Shell,
  context: EngineContext,
  run: string,
  account: Account,
): Promise<RunEnd> {
  shell.drainable();
  const progress = startRunProgress(shell);
  try {
    return await executeRun(context, run, account, shell.stop, progress);
  } finally {
    progress.done();
  }
}

/** Dispatches a run, prints its summary and sets the exit code. */
export async function dispatchAndPrint(
  shell: Shell,
  context: EngineContext,
  run: string,
  account: Account,
  json: boolean,
): Promise<void> {
  const end = await dispatchWithProgress(shell, context, run, account);
  const summary = await requireSummary(context, run);
  shell.print(json ? JSON.stringify(summary) : runSummaryText(summary));
  if (end.kind === 'lost') {
    shell.note(
      `The database session of this run was lost, so no more was sent. \`volley resume ${run}\` goes on.`,
    );
  }
  const { stateReason } = await requireRun(context, run);
  if (stateReason)
    shell.note(`The run is ${summary.state}: ${printable(stateReason)}. \`volley resume ${run}\` goes on.`);
  shell.exitWith(exitCodeOf(end, summary));
}

function exitCodeOf(end: RunEnd, { requests }: RunSummary): ExitCode {
  if (end.kind === 'refused' || end.kind === 'lost') return 4;
  if (end.kind === 'drained') return 130;
  return requests.rejected + requests.failed + requests.in_doubt + requests.abandoned > 0 ? 3 : 0;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { RunSummary } from '../domain/runs.ts';
import type { EngineContext } from '../engine/context.ts';
import { requireSummary } from '../engine/runs/find-run.ts';
import { bar, startProgressLine } from './progress.ts';
import type { Shell } from './shell.ts';

/**
 * Waits until no accepted recipient lacks its delivery report, none has arrived for so long, or the process is asked to
 * stop.
 *
 * @param maxSilence milliseconds, at this moment
 * @param textOf the progress line for this many reports of this many
 */
export async function waitForDeliveryReports(
  shell: Shell,
  context: EngineContext,
  runs: readonly string[],
  {
    maxSilence,
    textOf,
  }: { readonly maxSilence: () => number; readonly textOf: (drawn: string, count: string) => string },
): Promise<RunSummary[]> {
  const line = await startProgressLine(shell);
  let last = { reported: -1, at: shell.now().getTime() };
  for (;;) {
    const summaries = await Promise.all(runs.map((run) => requireSummary(context, run)));
    const reported = sum(summaries, ({ delivered, undelivered }) => delivered + undelivered);
    const missing = sum(summaries, ({ accepted }) => accepted);
    const now = shell.now().getTime();
    if (reported > last.reported) last = { reported, at: now };
    const total = reported + missing;
    const text = (): string => textOf(bar(reported, total), `${reported}/${total}`);
    if (missing === 0 || shell.stop.aborted || now - last.at > maxSilence()) {
      line.done(text());
      return summaries;
    }
    line.show(text);
    await sleep(200, undefined, { signal: shell.stop }).catch(() => undefined);
  }
}

function sum(
  summaries: readonly RunSummary[],
  count: (recipients: RunSummary['recipients']) => number,
): number {
  return summaries.reduce((total, { recipients }) => total + count(recipients), 0);
}

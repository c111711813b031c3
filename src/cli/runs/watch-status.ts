import { createLogUpdate } from 'log-update';
import { formatReason, formatReasonOrNull } from '../../domain/reasons.ts';
import type { EngineContext } from '../../engine/context.ts';
import { pollLedger, watchRun } from '../../engine/events/watch-run.ts';
import { type RunStatus, requireStatus } from '../../engine/reporting/run-status.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../../report/printable.ts';
import { formatRunHead } from '../../report/run/run-summary.ts';
import { formatTime } from '../../report/time.ts';
import type { Shell } from '../shell.ts';
import { createRunText, outageText, stoppedLooking } from './progress.ts';

export type WatchOptions = { readonly json: boolean; readonly interval: number | undefined };

/** Milliseconds. A log needs fewer lines than a screen or a program. */
const defaultInterval = 1_000;
const plainLineInterval = 5_000;

/**
 * Shows the progress of a run until it is over, however often the database is away: redrawn on a terminal, otherwise
 * one line for each change.
 *
 * @returns its status then
 */
export async function watchStatus(
  shell: Shell,
  context: EngineContext,
  run: string,
  { json, interval = json || shell.resultTerminal ? defaultInterval : plainLineInterval }: WatchOptions,
): Promise<RunStatus> {
  const watched = await requireRun(context, run);
  const view = json
    ? jsonView(shell, watched)
    : shell.resultTerminal
      ? terminalView(shell, watched)
      : lineView(shell);
  shell.endOnStop(stoppedLooking);
  let last = '';
  for await (const polled of watchRun(context, run, interval)) {
    if (polled.kind === 'answer') {
      const content = JSON.stringify(polled.answer);
      if (content !== last || shell.resultTerminal) view.show(polled.answer);
      last = content;
    } else if (polled.kind === 'down') view.down(polled.error);
    else view.up?.();
  }
  view.done?.();
  for await (const polled of pollLedger(context.ledger, interval, () => requireStatus(context, run)))
    if (polled.kind === 'answer') return polled.answer;
  throw new Error('polling ended without an answer');
}

type View = {
  readonly show: (progress: DispatchProgress) => void;
  readonly down: (error: Error) => void;
  readonly up?: () => void;
  readonly done?: () => void;
};

function terminalView(shell: Shell, { run, campaign, kind }: ListedRun): View {
  const draw = createLogUpdate(process.stdout);
  const runText = createRunText({ now: shell.now, noteScreen: shell.screen });
  let shown = '';
  return {
    show: (progress) => {
      const named = { run, campaign: printable(campaign), kind, state: progress.state };
      shown = [formatRunHead(named, shell.screen), ...progressLines(progress, runText)].join('\n');
      draw(shown);
    },
    down: (error) => draw(`${shown}\n  waiting     ${outageText(error)}`),
    // The whole status follows.
    done: draw.clear,
  };
}

function lineView(shell: Shell): View {
  const runText = createRunText({ now: shell.now, noteScreen: shell.screen });
  const print = (word: string, text: string): void =>
    shell.print(`${formatTime(shell.screen, shell.now())}  ${word.padEnd(9)}  ${text}`);
  return {
    show: (progress) => {
      const texts = progressLines(progress, runText).map((text) => text.trim());
      print(progress.state, texts.join('; '));
    },
    down: (error) => print('waiting', outageText(error)),
    up: () => print('continued', 'the database outage is over'),
  };
}

/** Sending or waiting, and why the run is in its state. */
function progressLines(progress: DispatchProgress, runText: ReturnType<typeof createRunText>): string[] {
  const { stateReason, heldSlices, state } = progress;
  return [
    runText(progress),
    ...(state === 'running' ? [`  workers  send ${count(heldSlices, 'slice')} of it now`] : []),
    ...(stateReason === null ? [] : [`  because  ${printable(formatReason(stateReason))}`]),
  ];
}

function jsonView(shell: Shell, { run, campaign, kind }: ListedRun): View {
  const print = (fields: object): void =>
    shell.print(JSON.stringify({ at: shell.now(), run, campaign, kind, ...fields }));
  return {
    show: (progress) => {
      const { state, total, settled, heldSlices, opensAt, refusal } = progress;
      print({
        state,
        reason: formatReasonOrNull(progress.stateReason),
        phase: state === 'running' ? progress.phase : null,
        requests: { total, settled, not_accepted: progress.notAccepted },
        heldSlices,
        opensAt,
        preempted: progress.preemptedBy !== null,
        refusal,
      });
    },
    down: ({ message }) => print({ outage: message }),
    up: () => print({ outage: null }),
  };
}

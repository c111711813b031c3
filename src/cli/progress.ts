import { createLogUpdate } from 'log-update';
import type { RunSummary } from '../domain.ts';
import type { RunProgress } from '../engine/execute-run.ts';
import type { Shell } from './shell.ts';

/** A line that tells how far something is. */
export type ProgressLine = {
  /** Shows the text, at most a few times a second. */
  readonly show: (text: () => string) => void;
  /** Shows the text at once: something else begins. */
  readonly turn: (text: string) => void;
  /** Shows the last text for good. */
  readonly done: (text: string) => void;
};

/** Milliseconds between two drawings in a terminal, and between two plain lines elsewhere (a log file, cron's mail). */
const redrawEvery = 100;
const plainLineEvery = 5_000;

export function startProgressLine(shell: Shell): ProgressLine {
  const every = shell.terminal ? redrawEvery : plainLineEvery;
  const draw = shell.terminal ? createLogUpdate(process.stderr) : undefined;
  let last = shell.now().getTime();
  const write = (text: string): void => {
    last = shell.now().getTime();
    if (draw) draw(text);
    else shell.note(text);
  };
  return {
    show: (text) => {
      if (shell.now().getTime() - last >= every) write(text());
    },
    turn: write,
    done: (text) => {
      if (draw) {
        draw(text);
        draw.done();
      } else {
        shell.note(text);
      }
    },
  };
}

/** Progress of a dispatch: a bar, requests, rate, time left, failures so far. Counted as it goes, not by query. */
export function startRunProgress(shell: Shell): RunProgress & { readonly done: () => void } {
  const line = startProgressLine(shell);
  let total = 0;
  let before = 0;
  let settled = 0;
  let failures = 0;
  let startedAt = shell.now().getTime();

  const text = (): string => {
    const finished = before + settled;
    const seconds = Math.max((shell.now().getTime() - startedAt) / 1000, 0.001);
    const rate = settled / seconds;
    const left = rate > 0 ? `, ${formatSeconds((total - finished) / rate)} left` : '';
    const failed = failures > 0 ? `, ${failures} not accepted` : '';
    return `  sending  ${bar(finished, total)} ${finished}/${total} requests, ${rate.toFixed(0)}/s${left}${failed}`;
  };

  return {
    onStart: ({ requests }: RunSummary) => {
      total = requests.total;
      before = requests.total - requests.planned;
      failures = requests.rejected + requests.failed + requests.in_doubt;
      startedAt = shell.now().getTime();
    },
    onSettled: (state) => {
      if (state !== 'planned') settled++;
      if (state !== 'accepted' && state !== 'planned' && state !== 'cancelled') failures++;
      line.show(text);
    },
    done: () => {
      if (total > 0) line.done(text());
    },
  };
}

const barWidth = 24;

export function bar(part: number, whole: number): string {
  const filled = whole === 0 ? barWidth : Math.floor((part / whole) * barWidth);
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled);
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

import { nextStepText } from '../../domain/next-step.ts';
import { type RunWait, waitKinds } from '../../domain/waits.ts';
import type { DispatchEvents } from '../../engine/runs/execute-run.ts';
import { waitsOf } from '../../engine/runs/waits.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';
import { printable } from '../../report/printable.ts';
import { formatSeconds, screenZone } from '../../report/time.ts';
import { settlingText, waitWords } from '../../report/wait-words.ts';
import type { Shell } from '../shell.ts';

/** Milliseconds between two drawings on a terminal, or two lines in a log. */
const redrawInterval = 100;
const plainLineInterval = 5_000;

export async function startProgressLine(shell: Pick<Shell, 'terminal' | 'now' | 'note'>) {
  const every = shell.terminal ? redrawInterval : plainLineInterval;
  const draw = shell.terminal ? (await import('log-update')).createLogUpdate(process.stderr) : undefined;
  let last = shell.now().getTime();
  const write = (text: string): void => {
    last = shell.now().getTime();
    if (draw) draw(text);
    else shell.note(text);
  };
  return {
    /** Shows the text, at most a few times a second. */
    show: (text: () => string): void => {
      if (shell.now().getTime() - last >= every) write(text());
    },
    showNow: write,
    /** Shows the last text for good. */
    done: (text: string): void => {
      if (draw) {
        draw(text);
        draw.done();
      } else {
        shell.note(text);
      }
    },
  };
}

/** The progress of a stage. `part`, `whole` and `before` (done earlier) share any unit. */
type StageState = {
  readonly part: number;
  readonly whole: number | undefined;
  readonly before?: number;
  /** The printed count, such as `5 contacts`. */
  readonly done: string;
  readonly count: number;
  readonly more?: string;
};

/** @param width of the screen; the bar takes what is left of it */
export function stageText(name: string, milliseconds: number, state: StageState, width?: number): string {
  const { part, whole, before = 0, done, count, more = '' } = state;
  const seconds = Math.max(milliseconds / 1000, 0.001);
  const perSecond = count / seconds;
  const isInProgress = whole !== undefined && part < whole && part > before;
  const left = isInProgress ? `, ${formatSeconds(((whole - part) / (part - before)) * seconds)} left` : '';
  const text = `${done}, ${Math.round(perSecond)}/s${left}${more}`;
  const room = (width ?? Number.POSITIVE_INFINITY) - `  ${name.padEnd(8)}  `.length - text.length;
  const drawn = whole === undefined || room < minBarWidth ? '' : `${bar(part, whole, room)} `;
  return `  ${name.padEnd(8)} ${drawn}${text}`;
}

/**
 * The text of a run's progress over time, in order of the calls. The rate counts neither what was done before the
 * first call nor time that the run waited.
 */
export function createRunText({
  now,
  noteScreen,
}: Pick<Shell, 'now' | 'noteScreen'>): (progress: DispatchProgress) => string {
  let began: number | undefined;
  let startedAt = now().getTime();
  /** The last time that the run waited, if it did at the last call. */
  let waitedAt: number | undefined;
  return (progress) => {
    const { settled, total, notAccepted, phase } = progress;
    began ??= settled;
    const time = now().getTime();
    const wait = findPause(progress, now());
    if (waitedAt !== undefined && wait) startedAt += time - waitedAt;
    waitedAt = wait ? time : undefined;
    if (wait) {
      const { what, next } = waitWords(wait, screenZone(noteScreen));
      return `  waiting  ${bar(settled, total)} ${settled}/${total} requests. ${printable(`${what} ${nextStepText(next)}`)}`;
    }
    if (phase === 'settling doubts') {
      return `  settling ${bar(settled, total)} ${settled}/${total} requests, ${notAccepted} not accepted. ${settlingText}`;
    }
    const failures = notAccepted > 0 ? `, ${notAccepted} not accepted` : '';
    const state = {
      part: settled,
      whole: total,
      before: began,
      done: `${settled}/${total} requests`,
      count: settled - began,
      more: failures,
    };
    return stageText('sending', time - startedAt, state, noteScreen.width);
  };
}

/** What keeps this process, which is a worker, from sending the run. */
function findPause(progress: DispatchProgress, now: Date): RunWait | undefined {
  return waitsOf({ progress, onHold: null, workers: 1, now }).find(({ kind }) => waitKinds[kind].stopsWorker);
}

/** What Ctrl-C prints in a command that only looks. */
export const stoppedLooking = 'Stopped; the run goes on as before.';

export function outageText(error: Error): string {
  return `database outage (${printable(error.message)})`;
}

export async function startRunProgress(
  shell: Pick<Shell, 'terminal' | 'now' | 'note' | 'noteScreen'>,
): Promise<DispatchEvents & { readonly done: () => void; readonly isAllSettled: () => boolean }> {
  const line = await startProgressLine(shell);
  let runText = createRunText(shell);
  let progress: DispatchProgress | undefined;
  let text = '';
  let waitedFor: string | undefined;
  return {
    onStart: () => {
      runText = createRunText(shell);
    },
    onProgress: (now) => {
      progress = now;
      text = runText(now);
      // A long wait is one line in a log.
      const pause = findPause(now, shell.now());
      const kind = pause && `${pause.kind} ${now.opensAt?.getTime()}`;
      if (kind === undefined) line.show(() => text);
      else if (kind !== waitedFor) line.showNow(text);
      waitedFor = kind;
    },
    onDown: (error) => {
      line.showNow(`  waiting  ${outageText(error)}; nothing is sent until it is over`);
    },
    onUp: () => line.showNow('  sending  the database outage is over'),
    done: () => {
      if (progress) line.done(text);
    },
    isAllSettled: () => progress !== undefined && progress.settled === progress.total,
  };
}

const maxBarWidth = 24;
const minBarWidth = 6;

export function bar(part: number, whole: number, room = maxBarWidth): string {
  const width = Math.min(maxBarWidth, room);
  const filled = whole === 0 ? width : Math.min(width, Math.floor((part / whole) * width));
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

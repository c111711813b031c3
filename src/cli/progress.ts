import type { RunProgress } from '../engine/runs/execute-run.ts';
import type { DispatchProgress } from '../ledger/slices/progress.ts';
import { printable } from '../report/printable.ts';
import { formatRefusal } from '../report/service-refusal.ts';
import { formatMinute } from '../report/time.ts';
import type { Shell } from './shell.ts';

export type ProgressLine = {
  /** Shows the text, at most a few times a second. */
  readonly show: (text: () => string) => void;
  /** Shows the text at once. */
  readonly showNow: (text: string) => void;
  /** Shows the last text for good. */
  readonly done: (text: string) => void;
};

/** Milliseconds between two drawings on a terminal, or two lines in a log. */
const redrawInterval = 100;
const plainLineInterval = 5_000;

export async function startProgressLine(
  shell: Pick<Shell, 'terminal' | 'now' | 'note'>,
): Promise<ProgressLine> {
  const every = shell.terminal ? redrawInterval : plainLineInterval;
  const draw = shell.terminal ? (await import('log-update')).createLogUpdate(process.stderr) : undefined;
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
    showNow: write,
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

/** The progress of a stage. `part`, `whole` and `before` (done earlier) share any unit. */
export type StageState = {
  readonly part: number;
  readonly whole: number | undefined;
  readonly before?: number;
  /** The printed count, such as `5 contacts`. */
  readonly done: string;
  readonly count: number;
};

export function stageText(name: string, milliseconds: number, state: StageState): string {
  const { part, whole, before = 0, done, count } = state;
  const seconds = Math.max(milliseconds / 1000, 0.001);
  const rate = count / seconds;
  const isInProgress = whole !== undefined && part < whole && part > before;
  const left = isInProgress ? `, ${formatSeconds(((whole - part) / (part - before)) * seconds)} left` : '';
  const drawn = whole === undefined ? '' : `${bar(part, whole)} `;
  return `  ${name.padEnd(8)} ${drawn}${done}, ${Math.round(rate)}/s${left}`;
}

export async function startRunProgress(
  shell: Pick<Shell, 'terminal' | 'now' | 'note' | 'noteScreen'>,
): Promise<RunProgress & { readonly done: () => void; readonly isAllSettled: () => boolean }> {
  const line = await startProgressLine(shell);
  let began: number | undefined;
  let watch: DispatchProgress | undefined;
  /** The time in the last line: of the next opening, or of the first refusal. */
  let waitedFor: number | undefined;
  let startedAt = shell.now().getTime();
  /** Waiting time does not count for the rate. */
  let waitsSince: number | undefined;

  const text = ({
    settled,
    total,
    notAccepted,
    preempted,
    opensAt,
    refusal,
    phase,
  }: DispatchProgress): string => {
    if (refusal !== null) {
      return `  waiting  ${bar(settled, total)} ${settled}/${total} requests; ${formatRefusal(refusal, shell.noteScreen)}; one request probes it now and then`;
    }
    if (opensAt !== null) {
      const time = formatMinute(shell.noteScreen, opensAt);
      return `  waiting  ${bar(settled, total)} ${settled}/${total} requests; the next window opens at ${time}`;
    }
    if (phase === 'settling doubts') {
      return `  settling ${bar(settled, total)} ${settled}/${total} requests, ${notAccepted} not accepted; resolving those in doubt`;
    }
    const stage = stageText('sending', shell.now().getTime() - startedAt, {
      part: settled,
      whole: total,
      before: began ?? settled,
      done: `${settled}/${total} requests`,
      count: settled - (began ?? settled),
    });
    const failures = notAccepted > 0 ? `, ${notAccepted} not accepted` : '';
    return `${stage}${failures}${preempted ? ', waits for a more urgent run of its account' : ''}`;
  };

  return {
    onStart: () => {
      startedAt = shell.now().getTime();
    },
    onWatch: (now) => {
      began ??= now.settled;
      watch = now;
      const time = shell.now().getTime();
      const waitsFor = now.opensAt?.getTime() ?? now.refusal?.since.getTime();
      if (waitsSince !== undefined && waitsFor !== undefined) startedAt += time - waitsSince;
      waitsSince = waitsFor === undefined ? undefined : time;
      // A long wait is one line in a log.
      if (waitsFor === undefined) line.show(() => text(now));
      else if (waitsFor !== waitedFor) line.showNow(text(now));
      waitedFor = waitsFor;
    },
    onDown: (error) => {
      line.showNow(
        `  waiting  database outage (${printable(error.message)}); nothing is sent until it is over`,
      );
    },
    onUp: () => line.showNow('  sending  the database outage is over'),
    done: () => {
      if (watch) line.done(text(watch));
    },
    isAllSettled: () => watch !== undefined && watch.settled === watch.total,
  };
}

const barWidth = 24;

export function bar(part: number, whole: number): string {
  const filled = whole === 0 ? barWidth : Math.min(barWidth, Math.floor((part / whole) * barWidth));
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled);
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

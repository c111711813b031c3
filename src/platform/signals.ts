/**
 * Milliseconds in which signals are one wish to stop: `timeout` signals its child and then the group that the child is in, and
 * a program that started this one may pass on a signal that both have had.
 */
const sameWish = 250;

/**
 * Ctrl-C, `kill` and a terminal that is closed ask a process to stop: the first time the returned signal is aborted, so
 * that work under way is recorded; the second time the process leaves at once, which is as safe as being killed. What the
 * process waits for is told at once.
 *
 * @param tell to whoever asked; must have written when it returns
 */
export function listenForStop(tell: (text: string) => void): StopListener {
  const controller = new AbortController();
  let waitsFor: (() => string) | undefined;
  let whenEnded = 'Stopped.';
  let askedAt = Number.NEGATIVE_INFINITY;
  const onSignal = (): void => {
    if (performance.now() - askedAt < sameWish) return;
    if (controller.signal.aborted) tell('Ended at once.');
    else if (waitsFor === undefined) tell(whenEnded);
    else {
      tell(`Stopping. ${waitsFor()} Ctrl-C again ends at once.`);
      askedAt = performance.now();
      controller.abort();
      return;
    }
    process.exit(130);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return {
    signal: controller.signal,
    drains: () => waitsFor !== undefined,
    drainable: (what) => {
      waitsFor = what;
    },
    endsAtOnce: (what) => {
      waitsFor = undefined;
      whenEnded = what;
    },
  };
}

export type StopListener = {
  readonly signal: AbortSignal;
  /** Whether the command has said that it drains. */
  readonly drains: () => boolean;
  /** From now on the first signal lets the command end in its own time. @param waitsFor what it waits for then, in sentences */
  readonly drainable: (waitsFor: () => string) => void;
  /**
   * From now on a signal ends the command at once; exit handlers still run. So it is from the beginning.
   *
   * @param told what that means for the user, in sentences
   */
  readonly endsAtOnce: (told: string) => void;
};

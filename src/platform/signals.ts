/**
 * Milliseconds in which signals are one wish to stop: `timeout` signals its child and then the group that the child is in, and
 * a program that started this one may pass on a signal that both have had.
 */
const repeatInterval = 250;

/**
 * Ctrl-C, `kill` and a terminal that is closed ask a process to stop: the first time the returned signal is aborted, so
 * that work under way is recorded; the second time the process leaves at once, which is as safe as being killed. What the
 * process waits for is told at once.
 *
 * @param print to whoever asked; must have written when it returns
 */
export function listenForStop(print: (text: string) => void): StopListener {
  const controller = new AbortController();
  let waitsFor: (() => string) | undefined;
  let endMessage = 'Stopped.';
  let askedAt = Number.NEGATIVE_INFINITY;
  const onSignal = (): void => {
    if (performance.now() - askedAt < repeatInterval) return;
    if (controller.signal.aborted) print('Ended at once.');
    else if (waitsFor === undefined) print(endMessage);
    else {
      print(`Stopping. ${waitsFor()} Ctrl-C again ends at once.`);
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
      endMessage = what;
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
   * @param endMessage what that means for the user, in sentences
   */
  readonly endsAtOnce: (endMessage: string) => void;
};

/**
 * Milliseconds in which several signals count as one: `timeout` signals its child and then the child's group.
 */
const repeatInterval = 250;

/**
 * The first signal aborts the returned one, so that work in progress is recorded. The second ends the process
 * at once, which is as safe as a kill.
 *
 * @param print must have written when it returns
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
      print(`Stopping. ${waitsFor()} Press Ctrl-C again to end at once.`);
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

type StopListener = {
  readonly signal: AbortSignal;
  /** Whether the command has called `drainable`. */
  readonly drains: () => boolean;
  /**
   * From now on the first signal lets the command drain.
   * @param waitsFor sentences that say what it waits for
   */
  readonly drainable: (waitsFor: () => string) => void;
  /**
   * From now on a signal ends the command at once, after exit handlers. This is the initial state.
   *
   * @param endMessage sentences that say what this means for the user
   */
  readonly endsAtOnce: (endMessage: string) => void;
};

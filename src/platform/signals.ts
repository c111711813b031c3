/**
 * Ctrl-C, `kill` and a terminal that is closed ask a process to stop: the first time the returned signal is aborted, so that work under way is
 * recorded; the second time the process leaves at once, which is as safe as being killed.
 */
export function listenForStop(): {
  readonly signal: AbortSignal;
  /** Whether the command has said that it drains. */
  readonly drains: () => boolean;
  readonly drainable: () => void;
} {
  const controller = new AbortController();
  let drains = false;
  const onSignal = (): void => {
    if (!drains || controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return {
    signal: controller.signal,
    drains: () => drains,
    // Until a command says that it drains, a signal ends it at once; exit handlers still run.
    drainable: () => {
      drains = true;
    },
  };
}

type ExitAction = () => void;

const exitActions = new Set<ExitAction>();
const terminationSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a synchronous action when the process ends by itself, process.exit, an uncaught error or an unhandled signal.
 * Returns a function that removes the action.
 */
export function runAtExit(act: ExitAction): () => void {
  if (exitActions.size === 0) listen();
  exitActions.add(act);
  return () => {
    if (exitActions.delete(act) && exitActions.size === 0) stopListening();
  };
}

function listen(): void {
  process.on('exit', runExitActions);
  // First, so that a one-time listener is still counted when ours runs.
  for (const signal of terminationSignals) process.prependListener(signal, exitBySignal);
}

function stopListening(): void {
  process.off('exit', runExitActions);
  for (const signal of terminationSignals) process.off(signal, exitBySignal);
}

/** Lets the signal end the process, unless another listener handles it. */
function exitBySignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  runExitActions();
  process.kill(process.pid, signal);
}

function runExitActions(): void {
  const acts = [...exitActions];
  exitActions.clear();
  stopListening();
  for (const act of acts) {
    try {
      act();
    } catch {
      // The process is ending; no code could handle the error.
    }
  }
}

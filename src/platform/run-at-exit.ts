/** What is to be done, synchronously, should the process end before it is forgotten. */
type ExitAction = () => void;

const exitActions = new Set<ExitAction>();
const terminationSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Has something done when the process ends by itself, by process.exit, an uncaught error or a signal that nothing
 * else handles. It must be synchronous. Returns the function that forgets it.
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
  // First in line, so that a handler which listens only once is still counted when ours is called.
  for (const signal of terminationSignals) process.prependListener(signal, exitBySignal);
}

function stopListening(): void {
  process.off('exit', runExitActions);
  for (const signal of terminationSignals) process.off(signal, exitBySignal);
}

/** Does what the signal would have done without us, unless somebody handles it and means to end in their own way. */
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
      // The process is ending; nothing is left that could hear of it.
    }
  }
}

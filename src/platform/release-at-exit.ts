/** What is to be done, synchronously, should the process end before it is forgotten. */
type LastAct = () => void;

const lastActs = new Set<LastAct>();
const deadlySignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Has something done when the process ends by itself, by process.exit, an uncaught error or a signal that nothing
 * else handles. It must be synchronous. Returns the function that forgets it.
 */
export function releaseAtExit(act: LastAct): () => void {
  if (lastActs.size === 0) listen();
  lastActs.add(act);
  return () => {
    if (lastActs.delete(act) && lastActs.size === 0) stopListening();
  };
}

function listen(): void {
  process.on('exit', actForTheLastTime);
  // First in line, so that a handler which listens only once is still counted when ours is called.
  for (const signal of deadlySignals) process.prependListener(signal, dieOf);
}

function stopListening(): void {
  process.off('exit', actForTheLastTime);
  for (const signal of deadlySignals) process.off(signal, dieOf);
}

/** Does what the signal would have done without us, unless somebody handles it and means to end in their own way. */
function dieOf(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  actForTheLastTime();
  process.kill(process.pid, signal);
}

function actForTheLastTime(): void {
  const acts = [...lastActs];
  lastActs.clear();
  stopListening();
  for (const act of acts) {
    try {
      act();
    } catch {
      // The process is ending; nothing is left that could hear of it.
    }
  }
}

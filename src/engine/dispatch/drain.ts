/** Milliseconds after the stop signal in which a process ends. */
export const maxDrain = 10_000;

/** Milliseconds after the stop signal. */
export const cutOffAfter = 7_500;
const giveUpAfter = 9_000;

export type DrainDeadlines = ReturnType<typeof drainDeadlines>;

export function drainDeadlines(stop: AbortSignal) {
  const cutOff = new AbortController();
  const giveUp = new AbortController();
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const timers: NodeJS.Timeout[] = [];
  const begin = (): void => {
    timers.push(setTimeout(() => cutOff.abort(), cutOffAfter));
    timers.push(setTimeout(() => giveUp.abort(), giveUpAfter));
    resolve();
  };
  if (stop.aborted) begin();
  else stop.addEventListener('abort', begin, { once: true });
  return {
    begun,
    /** Aborts the wait for answers. Their requests are in doubt. */
    get cutOff(): AbortSignal {
      return cutOff.signal;
    },
    /** Aborts the recording of outcomes. */
    get giveUp(): AbortSignal {
      return giveUp.signal;
    },
    clear(): void {
      stop.removeEventListener('abort', begin);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

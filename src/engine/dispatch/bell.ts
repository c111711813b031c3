/** Wakes whoever waits for something that may happen at any time. */
export type Bell = {
  readonly ring: () => void;
  /** Resolves when it rings, rang since the last wait, or the time is over. */
  readonly wait: (milliseconds: number, stop?: AbortSignal) => Promise<void>;
};

export function openBell(): Bell {
  let rung = false;
  let wake = (): void => undefined;
  return {
    ring() {
      rung = true;
      wake();
    },
    async wait(milliseconds, stop) {
      if (!rung && !stop?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, milliseconds);
        stop?.addEventListener('abort', wake, { once: true });
        await promise;
        stop?.removeEventListener('abort', wake);
        clearTimeout(timer);
      }
      rung = false;
    },
  };
}

/** A signal that ends a wait. */
export type Wakeup = {
  readonly signal: () => void;
  /** Resolves at a signal, also an earlier one since the last wait. */
  readonly wait: (milliseconds: number, stop?: AbortSignal) => Promise<void>;
};

export function createWakeup(): Wakeup {
  let isSignalled = false;
  let wake = (): void => undefined;
  return {
    signal() {
      isSignalled = true;
      wake();
    },
    async wait(milliseconds, stop) {
      if (!isSignalled && !stop?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, milliseconds);
        stop?.addEventListener('abort', wake, { once: true });
        await promise;
        stop?.removeEventListener('abort', wake);
        clearTimeout(timer);
      }
      isSignalled = false;
    },
  };
}

/** A signal that ends a wait. */
export type Wakeup = ReturnType<typeof createWakeup>;

export function createWakeup() {
  let isSignalled = false;
  let wake = (): void => undefined;
  return {
    signal(): void {
      isSignalled = true;
      wake();
    },
    /** Resolves at a signal, also an earlier one since the last wait. */
    async wait(milliseconds: number, stop?: AbortSignal): Promise<void> {
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

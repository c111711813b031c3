/** @returns how many can proceed, from 1 to `wanted`; 0 after `stop` */
export type Admit = (wanted: number, stop: AbortSignal) => Promise<number>;

type Waiter = {
  readonly wanted: number;
  readonly grant: (granted: number) => void;
  readonly fail: (error: unknown) => void;
};

/**
 * Lets callers share permits: one call of `obtain` serves all waiters, first come, first served.
 *
 * @param obtain is stopped when no waiter is left
 * @param returnUnused receives the permits of waiters that stopped
 */
export function sharePermits(obtain: Admit, returnUnused: (left: number) => Promise<void>): Admit {
  const waiters = new Set<Waiter>();
  let abandoned = new AbortController();
  let round: Promise<void> | undefined;

  async function serveOnce(): Promise<void> {
    abandoned = new AbortController();
    const wanted = [...waiters].reduce((sum, waiter) => sum + waiter.wanted, 0);
    let left = await obtain(wanted, abandoned.signal);
    for (const waiter of waiters) {
      if (left === 0) break;
      const granted = Math.min(waiter.wanted, left);
      left -= granted;
      waiter.grant(granted);
    }
    if (left > 0) await returnUnused(left);
  }

  async function serve(): Promise<void> {
    while (waiters.size > 0) {
      round = serveOnce();
      await round.catch((error: unknown) => {
        for (const waiter of waiters) waiter.fail(error);
      });
    }
    round = undefined;
  }

  return (wanted, stop) => {
    if (stop.aborted) return Promise.resolve(0);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const cancel = (): void => {
      waiters.delete(waiter);
      if (waiters.size === 0) abandoned.abort();
      // The last waiter waits until unused permits are returned.
      const lastRound = waiters.size === 0 ? round : undefined;
      Promise.resolve(lastRound)
        .catch(() => undefined)
        .then(() => resolve(0));
    };
    const done = (): void => {
      waiters.delete(waiter);
      stop.removeEventListener('abort', cancel);
    };
    const waiter: Waiter = {
      wanted,
      grant: (granted) => {
        done();
        resolve(granted);
      },
      fail: (error) => {
        done();
        reject(error);
      },
    };
    waiters.add(waiter);
    stop.addEventListener('abort', cancel, { once: true });
    if (!round) void serve();
    return promise;
  };
}

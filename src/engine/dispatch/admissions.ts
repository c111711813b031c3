/** @returns how many may go on, from 1 to `wanted`; 0 when it was stopped */
export type Admit = (wanted: number, stop: AbortSignal) => Promise<number>;

type Ask = {
  readonly wanted: number;
  readonly grant: (granted: number) => void;
  readonly fail: (error: unknown) => void;
};

/**
 * Lets several share what is obtained one time after the other: it is asked for all that wait, and handed out first come,
 * first served.
 *
 * @param obtain as `Admit`, for all together; it is stopped when nobody waits any more
 * @param giveBack takes what is left because some stopped meanwhile
 */
export function openAdmissions(obtain: Admit, giveBack: (left: number) => Promise<void>): Admit {
  const asks = new Set<Ask>();
  let deserted = new AbortController();
  let round: Promise<void> | undefined;

  async function serveOnce(): Promise<void> {
    deserted = new AbortController();
    const wanted = [...asks].reduce((sum, ask) => sum + ask.wanted, 0);
    let left = await obtain(wanted, deserted.signal);
    for (const ask of asks) {
      if (left === 0) break;
      const granted = Math.min(ask.wanted, left);
      left -= granted;
      ask.grant(granted);
    }
    if (left > 0) await giveBack(left);
  }

  async function serve(): Promise<void> {
    while (asks.size > 0) {
      round = serveOnce();
      await round.catch((error: unknown) => {
        for (const ask of asks) ask.fail(error);
      });
    }
    round = undefined;
  }

  return (wanted, stop) => {
    if (stop.aborted) return Promise.resolve(0);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const leave = (): void => {
      asks.delete(ask);
      if (asks.size === 0) deserted.abort();
      // The last one sees that what was obtained is given back. Where that fails it is used up, and no more.
      const givenBack = asks.size === 0 ? round : undefined;
      Promise.resolve(givenBack)
        .catch(() => undefined)
        .then(() => resolve(0));
    };
    const done = (): void => {
      asks.delete(ask);
      stop.removeEventListener('abort', leave);
    };
    const ask: Ask = {
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
    asks.add(ask);
    stop.addEventListener('abort', leave, { once: true });
    if (!round) void serve();
    return promise;
  };
}

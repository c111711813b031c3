import { once } from 'node:events';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RateLimits } from '../../../src/domain/rate-limits.ts';
import {
  createRateLimiter,
  type RateLimiter,
  type Timer,
} from '../../../src/engine/dispatch/rate-limiter.ts';
import { setRateLimits } from '../../../src/ledger/limits/rate-limits.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

let name = '';
let accounts = 0;
beforeEach(() => {
  name = `account-${++accounts}`;
});

const never = new AbortController().signal;

/** A limiter whose clock moves only by `pass`. */
function createLimiter(
  requestsPerSecond: number | null,
  recipientsPerSecond: number | null,
  timer?: Timer,
): RateLimiter & { readonly pass: (milliseconds: number) => void } {
  let milliseconds = 1_000_000;
  const context = { ...opened.context, monotonic: () => milliseconds };
  const limiter = createRateLimiter(
    context,
    { name, requestsPerSecond, recipientsPerSecond },
    timer ? { timer } : {},
  );
  const pass = (more: number): void => {
    milliseconds += more;
  };
  return { ...limiter, pass };
}

/** A timer that records its waits and does not wait. */
function instantTimer(): { readonly timer: Timer; readonly waits: number[] } {
  const waits: number[] = [];
  return { timer: async (milliseconds) => void waits.push(milliseconds), waits };
}

type HeldTimer = {
  readonly timer: Timer;
  /** The length of the next wait. */
  readonly next: () => Promise<number>;
  /** Ends present and later waits. */
  readonly release: () => void;
};

function heldTimer(): HeldTimer {
  const begun: number[] = [];
  const go = new AbortController();
  const timer: Timer = async (milliseconds, stop) => {
    begun.push(milliseconds);
    const end = AbortSignal.any([go.signal, stop]);
    if (!end.aborted) await once(end, 'abort');
  };
  const next = async (): Promise<number> => {
    await expect.poll(() => begun.length).toBeGreaterThan(0);
    return begun.shift() ?? 0;
  };
  return { timer, next, release: () => go.abort() };
}

async function queriesOf(work: () => Promise<unknown>): Promise<number> {
  let queries = 0;
  const count = (): void => {
    queries++;
  };
  opened.ledger.pool.on('acquire', count);
  await work();
  opened.ledger.pool.off('acquire', count);
  return queries;
}

const set = (changes: Partial<RateLimits>): Promise<void> => setRateLimits(opened.ledger.pool, name, changes);

/** Milliseconds of both rates that the ledger has as owed. */
async function owed(): Promise<{ readonly requests: number; readonly recipients: number }> {
  const { rows } = await opened.ledger.pool.query<{ requests: number; recipients: number }>(
    `
    SELECT (extract(epoch FROM greatest(requests_until, now()) - now()) * 1000)::float8 AS requests,
           (extract(epoch FROM greatest(recipients_until, now()) - now()) * 1000)::float8 AS recipients
    FROM rate_limits
    WHERE account = $1
    `,
    [name],
  );
  return rows[0] ?? { requests: 0, recipients: 0 };
}

describe('a rate limiter without a limit', () => {
  test('a limiter without a limit admits everything after one query', async () => {
    const limiter = createLimiter(null, null);
    const queries = await queriesOf(async () => {
      for (let time = 0; time < 50; time++) {
        expect(await limiter.admit(64, never)).toBe(64);
        await limiter.spend({ admitted: 64, claimed: 60, recipients: 6_000 });
        await limiter.spend({ admitted: 0, claimed: 1, recipients: 100 });
      }
    });
    expect(queries).toBe(1);
  });

  test('a limiter without a limit queries the ledger at most twice a second', async () => {
    const limiter = createLimiter(null, null);
    const queries = await queriesOf(async () => {
      for (let step = 0; step < 40; step++) {
        limiter.pass(50);
        await Promise.all(Array.from({ length: 8 }, () => limiter.admit(1, never)));
      }
    });
    expect(queries).toBe(4);
  });

  test('a limit that an operator sets applies within half a second', async () => {
    const limiter = createLimiter(null, null);
    expect(await limiter.admit(64, never)).toBe(64);
    await set({ requestsPerSecond: 100 });
    limiter.pass(499);
    expect(await limiter.admit(64, never)).toBe(64);
    limiter.pass(1);
    expect(await limiter.admit(64, never)).toBe(10);
  });

  test('a limit that is in the ledger applies from the first request', async () => {
    await set({ requestsPerSecond: 100 });
    expect(await createLimiter(null, null).admit(64, never)).toBe(10);
  });

  test('a stopped caller is admitted nothing', async () => {
    expect(await createLimiter(null, null).admit(64, AbortSignal.abort())).toBe(0);
  });
});

describe('a rate limiter with a limit of requests', () => {
  test('the requests of a tenth of a second are admitted at once, and the next wait for them', async () => {
    const { timer, waits } = instantTimer();
    const limiter = createLimiter(200, null, timer);
    expect(await limiter.admit(64, never)).toBe(20);
    expect(waits).toEqual([]);
    expect(await limiter.admit(64, never)).toBe(20);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeLessThanOrEqual(100);
  });

  test('no more requests are admitted than wanted', async () => {
    expect(await createLimiter(200, null).admit(3, never)).toBe(3);
  });

  test('an admission whose requests are all claimed takes one query', async () => {
    const limiter = createLimiter(200, null);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 200 });
    const queries = await queriesOf(async () => {
      await limiter.admit(1, never);
      await limiter.spend({ admitted: 1, claimed: 1, recipients: 200 });
    });
    expect(queries).toBe(1);
  });

  test('requests that are admitted and not claimed are returned', async () => {
    const limiter = createLimiter(1, null);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 0, recipients: 0 });
    expect((await owed()).requests).toBe(0);
  });

  test('requests beyond the admission delay the next ones', async () => {
    const limiter = createLimiter(1, null);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 1 });
    await limiter.spend({ admitted: 0, claimed: 1, recipients: 1 });
    expect((await owed()).requests).toBeGreaterThan(1_000);
  });

  test('requests that were admitted without a limit are not returned', async () => {
    const { timer } = instantTimer();
    const limiter = createLimiter(null, null, timer);
    await limiter.admit(64, never);
    await set({ requestsPerSecond: 1 });
    limiter.pass(500);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 1 });
    await limiter.spend({ admitted: 64, claimed: 0, recipients: 0 });
    expect((await owed()).requests).toBeGreaterThan(0);
  });

  test('limiters of several processes share one rate', async () => {
    const { timer, waits } = instantTimer();
    for (let process = 0; process < 4; process++) await createLimiter(1, null, timer).admit(1, never);
    // Waits of 1, 2 and 3 seconds, half a second at a time.
    expect(waits.length).toBeGreaterThanOrEqual(10);
    expect((await owed()).requests).toBeGreaterThan(2_000);
  });

  test('a caller that stops during its wait returns its reservation', async () => {
    const { timer, next } = heldTimer();
    const limiter = createLimiter(0.1, null, timer);
    await limiter.admit(1, never);
    const stop = new AbortController();
    const admitted = limiter.admit(1, stop.signal);
    await next();
    expect((await owed()).requests).toBeGreaterThan(10_000);
    stop.abort();
    expect(await admitted).toBe(0);
    expect((await owed()).requests).toBeLessThanOrEqual(10_000);
    const again = limiter.admit(1, AbortSignal.timeout(50));
    expect(await next()).toBe(500);
    expect(await again).toBe(0);
  });
});

test('a wait on the real clock ends in time, and at once at stop', async () => {
  const limiter = createLimiter(20, null);
  await limiter.admit(2, never);
  expect(await limiter.admit(2, never)).toBe(2);
  await set({ requestsPerSecond: 0.001 });
  await limiter.admit(1, never);
  expect(await limiter.admit(1, AbortSignal.timeout(20))).toBe(0);
});

describe('concurrent callers of a rate limiter', () => {
  test('concurrent callers are admitted in order, with one reservation at a time', async () => {
    const { timer, next, release } = heldTimer();
    const limiter = createLimiter(0.1, null, timer);
    const turns: string[] = [];
    const ask = async (caller: string): Promise<void> => {
      await limiter.admit(1, never);
      turns.push(caller);
    };
    const all = [ask('first'), ask('second'), ask('third')];
    await next();
    expect(turns).toEqual(['first']);
    expect((await owed()).requests).toBeLessThanOrEqual(20_000);
    release();
    await Promise.all(all);
    expect(turns).toEqual(['first', 'second', 'third']);
    expect((await owed()).requests).toBeGreaterThan(20_000);
  });

  test('concurrent callers share one reservation', async () => {
    const { timer, next, release } = heldTimer();
    const limiter = createLimiter(200, null, timer);
    await limiter.admit(20, never);
    const head = limiter.admit(4, never);
    const others = Array.from({ length: 6 }, () => limiter.admit(4, never));
    const queries = queriesOf(async () => {
      await next();
      release();
      expect(await Promise.all([head, ...others])).toEqual([4, 4, 4, 4, 4, 4, 4]);
    });
    // A reservation of a tenth of a second has twenty requests.
    expect(await queries).toBeLessThanOrEqual(3);
  });

  test('a stopped caller leaves its reservation to the others', async () => {
    const { timer, next, release } = heldTimer();
    const limiter = createLimiter(2, null, timer);
    await limiter.admit(1, never);
    const stop = new AbortController();
    const stopped = limiter.admit(1, stop.signal);
    await next();
    const other = limiter.admit(1, never);
    stop.abort();
    expect(await stopped).toBe(0);
    release();
    expect(await queriesOf(() => other)).toBe(0);
    expect(await other).toBe(1);
  });

  test('a reservation that stopped callers no longer need is returned', async () => {
    const { timer, next, release } = heldTimer();
    const limiter = createLimiter(20, null, timer);
    await limiter.admit(2, never);
    const first = limiter.admit(2, never);
    await next();
    const stop = new AbortController();
    const stopped = limiter.admit(1, stop.signal);
    const last = limiter.admit(1, never);
    release();
    expect(await first).toBe(2);
    stop.abort();
    expect([await stopped, await last]).toEqual([0, 1]);
    // The next caller shows that the rest was returned.
    expect(await limiter.admit(1, never)).toBe(1);
    expect((await owed()).requests).toBeLessThanOrEqual(6 * 50);
  });

  test('a stopped caller leaves the queue, and the others keep their order', async () => {
    const { timer, next, release } = heldTimer();
    const limiter = createLimiter(0.1, null, timer);
    await limiter.admit(1, never);
    const stop = new AbortController();
    const head = limiter.admit(1, never);
    const stopped = limiter.admit(1, stop.signal);
    const last = limiter.admit(1, never);
    await next();
    stop.abort();
    expect(await stopped).toBe(0);
    release();
    expect(await Promise.all([head, last])).toEqual([1, 1]);
    expect((await owed()).requests).toBeLessThanOrEqual(30_000);
  });
});

describe('a rate limiter with a limit of recipients', () => {
  test('the first batch is one request, and later batches have recipients for a tenth of a second', async () => {
    const { timer } = instantTimer();
    const limiter = createLimiter(null, 2_000, timer);
    expect(await limiter.admit(16, never)).toBe(1);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 50 });
    expect(await limiter.admit(16, never)).toBe(4);
  });

  test('the recipients of claimed requests delay the next ones', async () => {
    const { timer, waits } = instantTimer();
    const limiter = createLimiter(null, 100, timer);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 300 });
    expect((await owed()).recipients).toBeGreaterThan(1_500);
    await limiter.admit(1, never);
    expect(waits[0]).toBe(500);
  });

  test('reserved recipients are charged once, in whatever order usage is reported', async () => {
    const { timer } = instantTimer();
    const limiter = createLimiter(null, 1, timer);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 200 });
    await limiter.admit(1, never);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 300 });
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 100 });
    const { recipients } = await owed();
    expect(recipients).toBeGreaterThan(590_000);
    expect(recipients).toBeLessThanOrEqual(600_000);
  });

  test('the recipients of unclaimed requests are returned', async () => {
    const { timer } = instantTimer();
    const limiter = createLimiter(null, 1, timer);
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 1, recipients: 200 });
    await limiter.admit(1, never);
    await limiter.spend({ admitted: 1, claimed: 0, recipients: 0 });
    expect((await owed()).recipients).toBeLessThanOrEqual(200_000);
  });
});

describe('a change of the limits by an operator', () => {
  test('a new limit reaches a waiting caller within half a second', async () => {
    const { timer, next, release } = heldTimer();
    const limiter = createLimiter(0.001, null, timer);
    await limiter.admit(1, never);
    const admitted = limiter.admit(64, never);
    expect(await next()).toBe(500);
    await set({ requestsPerSecond: 500 });
    release();
    expect(await admitted).toBe(50);
  });

  test('removing the limit admits everything', async () => {
    await set({ requestsPerSecond: 100 });
    const limiter = createLimiter(null, null);
    expect(await limiter.admit(64, never)).toBe(10);
    await set({ requestsPerSecond: null });
    expect(await limiter.admit(64, never)).toBe(64);
    expect(await queriesOf(() => limiter.admit(64, never))).toBe(0);
  });
});

describe('the rate of status look-ups', () => {
  test('the first status look-up is admitted at once, and the next a second later', async () => {
    const { timer, waits } = instantTimer();
    const limiter = createLimiter(null, null, timer);
    expect(await limiter.admitLookUp(never)).toBe(true);
    expect(waits).toEqual([]);
    expect(await limiter.admitLookUp(never)).toBe(true);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeLessThanOrEqual(1_000);
  });

  test('a stopped status look-up is not admitted', async () => {
    const { timer, next } = heldTimer();
    const limiter = createLimiter(null, null, timer);
    await limiter.admitLookUp(never);
    const stop = new AbortController();
    const admitted = limiter.admitLookUp(stop.signal);
    await next();
    stop.abort();
    expect(await admitted).toBe(false);
    expect(await limiter.admitLookUp(stop.signal)).toBe(false);
  });
});

test('a reservation that fails with the ledger is reported, and the next caller is served', async () => {
  const limiter = createLimiter(200, null);
  await limiter.admit(1, never);
  const waiting = Promise.allSettled(Array.from({ length: 4 }, () => limiter.admit(1, never)));
  await opened.breakConnections();
  await waiting;
  expect(await limiter.admit(1, never)).toBe(1);
});

test('usage that could not be recorded can be recorded again', async () => {
  const { timer } = instantTimer();
  const limiter = createLimiter(null, 1, timer);
  await limiter.admit(1, never);
  await opened.ledger.pool.query('ALTER TABLE rate_limits RENAME TO lost');
  const spent = { admitted: 1, claimed: 1, recipients: 200 };
  await expect(limiter.spend(spent)).rejects.toThrow(/rate_limits/);
  await opened.ledger.pool.query('ALTER TABLE lost RENAME TO rate_limits');
  await limiter.spend(spent);
  const { recipients } = await owed();
  expect(recipients).toBeGreaterThan(190_000);
  expect(recipients).toBeLessThanOrEqual(200_000);
});

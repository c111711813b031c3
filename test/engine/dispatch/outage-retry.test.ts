import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createOutageRetry } from '../../../src/engine/dispatch/outage-retry.ts';

afterEach(() => {
  vi.useRealTimers();
});

const never = new AbortController().signal;

/** @param revive as a ledger's */
function open({
  end = never,
  revive = async () => {},
}: {
  end?: AbortSignal;
  revive?: (onGone: () => void) => Promise<void>;
} = {}) {
  const events: string[] = [];
  const outage = {
    onDown: ({ message }: Error) => events.push(`away: ${message}`),
    onUp: () => events.push('back'),
  };
  let drops = 0;
  const dropConnections = (): void => {
    drops++;
  };
  return { said: events, drops: () => drops, ...createOutageRetry(outage, { revive, dropConnections }, end) };
}

const lost = (): Error => new Error('Connection terminated unexpectedly');

/** Fails so often, then succeeds. */
function failing(times: number, error: () => Error = lost): () => Promise<string> {
  let left = times;
  return async () => {
    if (left-- > 0) throw error();
    return 'done';
  };
}

test('work whose connection breaks is done again, and one broken connection is no outage', async () => {
  const { retry, said } = open();
  expect(await retry(failing(1))).toBe('done');
  expect(said).toEqual([]);
});

test('that the database is away and back is said once, however much waits for it', async () => {
  const { retry, said } = open();
  const backAt = performance.now() + 600;
  const work = async (): Promise<void> => {
    if (performance.now() < backAt) throw lost();
  };
  await Promise.all([retry(work), retry(work), retry(work)]);
  expect(said).toEqual(['away: Connection terminated unexpectedly', 'back']);
});

test('work that needed no database does not prove that it is back', async () => {
  const { retry, said } = open();
  let isBack = false;
  const waiting = retry(async () => {
    if (!isBack) throw lost();
  });
  while (said.length === 0) await sleep(5);
  await retry(async () => 'from memory');
  expect(said).toHaveLength(1);
  isBack = true;
  await waiting;
  expect(said).toHaveLength(2);
});

test('work that was stopped does not prove that it is back', async () => {
  const { retry, said } = open();
  const stop = new AbortController();
  let tries = 0;
  const work = async (): Promise<void> => {
    if (++tries === 3) stop.abort();
    if (!stop.signal.aborted) throw lost();
  };
  await retry(work, stop.signal);
  expect(said).toEqual(['away: Connection terminated unexpectedly']);
});

test('a transaction that Postgres undid because of another one is done again, and is no outage', async () => {
  const { retry, said } = open();
  const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' });
  expect(await retry(failing(3, deadlock))).toBe('done');
  expect(said).toEqual([]);
});

test.each([
  ['53300', 'too many connections'],
  ['53100', 'no space left on device'],
  ['25006', 'a stand-by that only reads'],
  ['57P03', 'a server that is starting up'],
])('%s, %s, is waited out', async (code, message) => {
  const { retry, said } = open();
  expect(await retry(failing(2, () => Object.assign(new Error(message), { code })))).toBe('done');
  expect(said).toEqual([`away: ${message}`, 'back']);
});

test('any other failure is not tried again', async () => {
  const { retry } = open();
  const wrong = () => Object.assign(new Error('no such column'), { code: '42703' });
  await expect(retry(failing(1, wrong))).rejects.toThrow('no such column');
});

test('patience ends with the signal, even where the database holds the work up without an answer', async () => {
  const end = new AbortController();
  const { retry } = open({ end: end.signal });
  const held = retry(() => new Promise(() => {}));
  const refused = retry(failing(Number.POSITIVE_INFINITY));
  end.abort(new Error('time is up'));
  await expect(held).rejects.toThrow('time is up');
  await expect(refused).rejects.toThrow('time is up');
});

test('when patience ends while the database is away, work fails with what the database failed with', async () => {
  const { retry, said } = open({ end: AbortSignal.timeout(400) });
  await expect(retry(failing(Number.POSITIVE_INFINITY))).rejects.toThrow('Connection terminated');
  expect(said).toHaveLength(1);
  await expect(retry(async () => 'too late')).rejects.toThrow('Connection terminated');
});

test('a server of our own that is gone is said to be away at once, and is brought back', async () => {
  let revivals = 0;
  const revive = async (onGone: () => void): Promise<void> => {
    onGone();
    revivals++;
  };
  const { retry, said } = open({ revive });
  await retry(failing(1));
  expect([said, revivals]).toEqual([['away: Connection terminated unexpectedly', 'back'], 1]);
});

test('why a server of our own cannot be brought back is said once', async () => {
  const revive = async (onGone: () => void): Promise<void> => {
    onGone();
    throw new Error('its port is taken');
  };
  const { retry, said } = open({ revive });
  await retry(failing(3));
  expect(said).toEqual(['away: Connection terminated unexpectedly', 'away: its port is taken', 'back']);
});

test('a database that does not answer is away after five seconds, and its connections are given up after thirty', async () => {
  vi.useFakeTimers();
  const { query, said, drops } = open();
  const answer = Promise.withResolvers<string>();
  const asked = query(() => answer.promise);
  await vi.advanceTimersByTimeAsync(4_900);
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(said).toEqual(['away: no answer for 5 s']);
  await vi.advanceTimersByTimeAsync(25_000);
  expect(drops()).toBe(1);
  answer.resolve('late');
  expect(await asked).toBe('late');
  expect(said.at(-1)).toBe('back');
});

test('what is not to begin while the database is away waits until it is back, or it is to stop', async () => {
  const { retry, waitUntilUp, said } = open();
  await waitUntilUp(never);
  let isBack = false;
  const waiting = retry(async () => {
    if (!isBack) throw lost();
  });
  while (said.length === 0) await sleep(5);
  await waitUntilUp(AbortSignal.timeout(10));
  expect(said).toHaveLength(1);
  const present = waitUntilUp(never);
  isBack = true;
  await Promise.all([waiting, present]);
  expect(said).toHaveLength(2);
});

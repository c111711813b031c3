import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createOutageRetry } from '../../../src/engine/dispatch/outage-retry.ts';

afterEach(() => {
  vi.useRealTimers();
});

const never = new AbortController().signal;

function open({
  end = never,
  revive = async () => {},
}: {
  end?: AbortSignal;
  revive?: (onGone: () => void) => Promise<void>;
} = {}) {
  const events: string[] = [];
  const outage = {
    onDown: ({ message }: Error) => events.push(`down: ${message}`),
    onUp: () => events.push('up'),
  };
  let drops = 0;
  const dropConnections = (): void => {
    drops++;
  };
  return {
    events: events,
    drops: () => drops,
    ...createOutageRetry(outage, { revive, dropConnections }, end),
  };
}

const lost = (): Error => new Error('Connection terminated unexpectedly');

function failing(times: number, error: () => Error = lost): () => Promise<string> {
  let left = times;
  return async () => {
    if (left-- > 0) throw error();
    return 'done';
  };
}

test('work is repeated after one broken connection, and that is no outage', async () => {
  const { retry, events } = open();
  expect(await retry(failing(1))).toBe('done');
  expect(events).toEqual([]);
});

test('the start and end of an outage are reported once, however many callers wait', async () => {
  const { retry, events } = open();
  const backAt = performance.now() + 600;
  const work = async (): Promise<void> => {
    if (performance.now() < backAt) throw lost();
  };
  await Promise.all([retry(work), retry(work), retry(work)]);
  expect(events).toEqual(['down: Connection terminated unexpectedly', 'up']);
});

test('work that succeeds without the database does not end the outage', async () => {
  const { retry, events } = open();
  let isBack = false;
  const waiting = retry(async () => {
    if (!isBack) throw lost();
  });
  while (events.length === 0) await sleep(5);
  await retry(async () => 'from memory');
  expect(events).toHaveLength(1);
  isBack = true;
  await waiting;
  expect(events).toHaveLength(2);
});

test('stopped work does not end the outage', async () => {
  const { retry, events } = open();
  const stop = new AbortController();
  let attempts = 0;
  const work = async (): Promise<void> => {
    if (++attempts === 3) stop.abort();
    if (!stop.signal.aborted) throw lost();
  };
  await retry(work, stop.signal);
  expect(events).toEqual(['down: Connection terminated unexpectedly']);
});

test('a transaction that Postgres rolled back after a deadlock is repeated, and that is no outage', async () => {
  const { retry, events } = open();
  const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' });
  expect(await retry(failing(3, deadlock))).toBe('done');
  expect(events).toEqual([]);
});

test.each([
  ['53300', 'too many connections'],
  ['53100', 'no space left on device'],
  ['25006', 'a stand-by that only reads'],
  ['57P03', 'a server that is starting up'],
])('the failure %s (%s) is an outage, and the work is repeated', async (code, message) => {
  const { retry, events } = open();
  expect(await retry(failing(2, () => Object.assign(new Error(message), { code })))).toBe('done');
  expect(events).toEqual([`down: ${message}`, 'up']);
});

test('any other failure is thrown at once', async () => {
  const { retry } = open();
  const wrong = () => Object.assign(new Error('no such column'), { code: '42703' });
  await expect(retry(failing(1, wrong))).rejects.toThrow('no such column');
});

test('the end signal ends all retries, even without an answer of the database', async () => {
  const end = new AbortController();
  const { retry } = open({ end: end.signal });
  const held = retry(() => new Promise(() => {}));
  const refused = retry(failing(Number.POSITIVE_INFINITY));
  end.abort(new Error('time is up'));
  await expect(held).rejects.toThrow('time is up');
  await expect(refused).rejects.toThrow('time is up');
});

test('after the end signal, work fails with the last failure of the database', async () => {
  const { retry, events } = open({ end: AbortSignal.timeout(400) });
  await expect(retry(failing(Number.POSITIVE_INFINITY))).rejects.toThrow('Connection terminated');
  expect(events).toHaveLength(1);
  await expect(retry(async () => 'too late')).rejects.toThrow('Connection terminated');
});

test('an embedded server that ended is marked down at once and is started again', async () => {
  let revivals = 0;
  const revive = async (onGone: () => void): Promise<void> => {
    onGone();
    revivals++;
  };
  const { retry, events } = open({ revive });
  await retry(failing(1));
  expect([events, revivals]).toEqual([['down: Connection terminated unexpectedly', 'up'], 1]);
});

test('the reason why an embedded server cannot start is reported once', async () => {
  const revive = async (onGone: () => void): Promise<void> => {
    onGone();
    throw new Error('its port is taken');
  };
  const { retry, events } = open({ revive });
  await retry(failing(3));
  expect(events).toEqual(['down: Connection terminated unexpectedly', 'down: its port is taken', 'up']);
});

test('a database without an answer is marked down after 5 seconds, and its connections are dropped after 30', async () => {
  vi.useFakeTimers();
  const { query, events, drops } = open();
  const answer = Promise.withResolvers<string>();
  const asked = query(() => answer.promise);
  await vi.advanceTimersByTimeAsync(4_900);
  expect(events).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(events).toEqual(['down: no answer for 5 s']);
  await vi.advanceTimersByTimeAsync(25_000);
  expect(drops()).toBe(1);
  answer.resolve('late');
  expect(await asked).toBe('late');
  expect(events.at(-1)).toBe('up');
});

test('waitUntilUp resolves at the end of the outage or at stop', async () => {
  const { retry, waitUntilUp, events } = open();
  await waitUntilUp(never);
  let isBack = false;
  const waiting = retry(async () => {
    if (!isBack) throw lost();
  });
  while (events.length === 0) await sleep(5);
  await waitUntilUp(AbortSignal.timeout(10));
  expect(events).toHaveLength(1);
  const present = waitUntilUp(never);
  isBack = true;
  await Promise.all([waiting, present]);
  expect(events).toHaveLength(2);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateLimits } from '../../../src/domain/rate-limits.ts';
import { listRateLimits, readRateLimits, setRateLimits } from '../../../src/ledger/limits/rate-limits.ts';
import {
  type Reservation,
  reserveLookUp,
  reserveRequests,
  spendReservation,
} from '../../../src/ledger/limits/reserve.ts';
import { inSession } from '../../../src/ledger/session.ts';
import { examples } from '../../support/examples.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

let accounts = 0;
const newAccount = (): string => `account-${++accounts}`;

/** Milliseconds. Postgres rounds to microseconds, so a sum of many reservations is off by a few. */
const rounding = 0.1;

function limits(requestsPerSecond: number | null, recipientsPerSecond: number | null = null): RateLimits {
  return { requestsPerSecond, recipientsPerSecond };
}

function reserve(
  account: string,
  file: RateLimits,
  wanted: number,
  recipientsEach = 1,
): Promise<Reservation> {
  return reserveRequests(opened.ledger.pool, { account, file, wanted, recipientsEach });
}

async function reserveMany(
  times: number,
  ...options: Parameters<typeof reserve>
): Promise<readonly Reservation[]> {
  const all: Reservation[] = [];
  for (let time = 0; time < times; time++) all.push(await reserve(...options));
  return all;
}

const waitOf = ({ admittedAt, now }: Reservation): number => admittedAt - now;

/** Milliseconds between admissions. */
function spacing(reservations: readonly Reservation[]): number[] {
  return reservations
    .slice(1)
    .map(({ admittedAt }, index) => admittedAt - (reservations[index]?.admittedAt ?? 0));
}

type Admission = { readonly at: number; readonly amount: number };

/** By how much the busiest interval exceeds the rate and the burst of a tenth of a second. */
function excess(admissions: readonly Admission[], perSecond: number): number {
  const sorted = admissions.toSorted((one, other) => one.at - other.at);
  const burst = Math.max(perSecond / 10, ...admissions.map(({ amount }) => amount));
  let max = Number.NEGATIVE_INFINITY;
  for (const [index, first] of sorted.entries()) {
    let total = 0;
    for (const { at, amount } of sorted.slice(index)) {
      total += amount;
      max = Math.max(max, total - burst - ((at - first.at + rounding) * perSecond) / 1_000);
    }
  }
  return max;
}

const anyRate = fc.oneof(
  fc.constantFrom(0.1, 1, 15, 200, 100_000),
  fc.integer({ min: 1, max: 5_000 }).map((tenths) => tenths / 10),
);
const steps = fc.array(
  fc.record({
    wanted: fc.integer({ min: 1, max: 40 }),
    recipientsEach: fc.constantFrom(1, 7, 200),
    idle: fc.constantFrom(0, 0, 0, 5, 120),
  }),
  { minLength: 1, maxLength: 6 },
);

test('concurrent reservations never exceed the rates over any interval', async () => {
  const workers = fc.array(steps, { minLength: 1, maxLength: 6 });
  const property = fc.asyncProperty(anyRate, anyRate, workers, async (requests, recipients, plans) => {
    const account = newAccount();
    const file = limits(requests, recipients);
    const work = async (plan: (typeof plans)[number]) => {
      const done: (Reservation & { readonly each: number })[] = [];
      for (const { wanted, recipientsEach, idle } of plan) {
        if (idle > 0) await new Promise((resolve) => setTimeout(resolve, idle));
        done.push({ ...(await reserve(account, file, wanted, recipientsEach)), each: recipientsEach });
      }
      return done;
    };
    const all = (await Promise.all(plans.map(work))).flat();
    for (const { now, admittedAt, requests: admitted } of all) {
      expect(admitted).toBeGreaterThanOrEqual(1);
      expect(admittedAt).toBeGreaterThanOrEqual(now);
    }
    const asRequests = all.map(({ admittedAt, requests: amount }) => ({ at: admittedAt, amount }));
    expect(excess(asRequests, requests)).toBeLessThanOrEqual(0);
    const asRecipients = all.map(({ admittedAt: at, requests: amount, each }) => ({
      at,
      amount: amount * each,
    }));
    expect(excess(asRecipients, recipients)).toBeLessThanOrEqual(0);
  });
  await fc.assert(property, examples(10));
});

test('returned reservations can be used again, and no more than those', async () => {
  const plan = fc.array(fc.record({ wanted: fc.integer({ min: 1, max: 30 }), unused: fc.nat(30) }), {
    minLength: 2,
    maxLength: 12,
  });
  const property = fc.asyncProperty(plan, async (reservations) => {
    const account = newAccount();
    const used: Admission[] = [];
    const work = async ({ wanted, unused }: (typeof reservations)[number]) => {
      const { admittedAt, requests } = await reserve(account, limits(100), wanted);
      const back = Math.min(requests, unused);
      await spendReservation(opened.ledger.pool, account, back, 0);
      used.push({ at: admittedAt, amount: requests - back });
    };
    await Promise.all(reservations.map(work));
    const last = await reserve(account, limits(100), 1);
    const total = used.reduce((sum, { amount }) => sum + amount, 0);
    const first = Math.min(last.now, ...used.map(({ at }) => at));
    expect((last.admittedAt - first + 100 + rounding) / 10).toBeGreaterThanOrEqual(total);
    expect(waitOf(last)).toBeLessThanOrEqual((total + 1) * 10 + rounding);
  });
  await fc.assert(property, examples(8));
});

describe('reserveRequests', () => {
  test('reserves at most a tenth of a second, and at least one request', async () => {
    const admitted = async (file: RateLimits, wanted: number) =>
      (await reserve(newAccount(), file, wanted)).requests;
    expect(await admitted(limits(200), 64)).toBe(20);
    expect(await admitted(limits(200), 3)).toBe(3);
    expect(await admitted(limits(0.1), 64)).toBe(1);
    expect(await admitted(limits(100_000), 50_000)).toBe(10_000);
    expect(await admitted(limits(null, 500), 64)).toBe(50);
  });

  test('reserves a tenth of a second of recipients if requests have many', async () => {
    expect(await reserve(newAccount(), limits(100, 2_000), 64, 40)).toMatchObject({ requests: 5 });
    expect(await reserve(newAccount(), limits(100, 2_000), 64, 200)).toMatchObject({ requests: 1 });
  });

  test.each([
    [0.1, 1, 10_000],
    [15, 1, 1_000 / 15],
    [200, 20, 100],
    [100_000, 10_000, 100],
  ])('spaces reservations evenly at %d requests a second', async (rate, wanted, milliseconds) => {
    // The first tenth of a second is admitted at once.
    const all = await reserveMany(12, newAccount(), limits(rate), wanted);
    for (const apart of spacing(all.slice(-8))) expect(apart).toBeCloseTo(milliseconds, 1);
  });

  test('admits a burst of at most a tenth of a second after a long pause', async () => {
    const account = newAccount();
    await reserve(account, limits(200), 20);
    await opened.ledger.pool.query(
      `UPDATE rate_limits SET requests_until = requests_until - interval '1 h' WHERE account = $1`,
      [account],
    );
    const all = await reserveMany(3, account, limits(200), 20);
    expect(all.map(waitOf).map((wait) => wait === 0)).toEqual([true, false, false]);
    expect(spacing(all)[1]).toBeCloseTo(100, 1);
  });

  test('reserves everything at once without a limit', async () => {
    const account = newAccount();
    for (const one of await reserveMany(3, account, limits(null), 256)) {
      expect([one.requests, waitOf(one), one.limits]).toEqual([256, 0, limits(null)]);
    }
  });

  test('waits for the later of two limits and uses up the other one meanwhile', async () => {
    const account = newAccount();
    const file = limits(10, 100);
    await reserve(account, file, 1, 200);
    const all = await reserveMany(8, account, file, 1, 1);
    expect(waitOf(all[0] ?? (await reserve(account, file, 1)))).toBeGreaterThan(1_000);
    for (const apart of spacing(all)) expect(apart).toBeCloseTo(100, 1);
  });

  test('loses only its own time for a worker that ends', async () => {
    const account = newAccount();
    const [lost, next] = await reserveMany(2, account, limits(2), 1);
    if (!lost || !next) throw new Error('expected two reservations');
    expect(next.admittedAt - lost.admittedAt).toBeCloseTo(500, 1);
  });

  test('counts a reservation from the moment at which it got the row lock', async () => {
    const account = newAccount();
    await reserve(account, limits(5), 1);
    const released = await inSession(opened.ledger.pool, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM rate_limits WHERE account = $1 FOR UPDATE', [account]);
      const waiting = reserve(account, limits(5), 1);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const { now } = await reserve(newAccount(), limits(null), 1);
      await client.query('ROLLBACK');
      return { now, waiting };
    });
    const reservation = await released.waiting;
    expect(reservation.now).toBeGreaterThanOrEqual(released.now);
    expect(waitOf(reservation)).toBe(0);
    expect(waitOf(await reserve(account, limits(5), 1))).toBeGreaterThan(50);
  });

  test('keeps accounts independent', async () => {
    await reserveMany(5, newAccount(), limits(1), 1);
    expect(waitOf(await reserve(newAccount(), limits(1), 1))).toBe(0);
  });
});

describe('spendReservation', () => {
  test('makes the next reservation wait for recipients that exceed the estimate', async () => {
    const account = newAccount();
    await reserve(account, limits(null, 100), 1, 1);
    await spendReservation(opened.ledger.pool, account, 0, 199);
    const wait = waitOf(await reserve(account, limits(null, 100), 1, 1));
    expect(wait).toBeGreaterThan(1_000);
    expect(wait).toBeLessThanOrEqual(2_000);
  });

  test('frees recipients that were reserved and not claimed', async () => {
    const account = newAccount();
    await reserve(account, limits(null, 100), 1, 1_000);
    await spendReservation(opened.ledger.pool, account, 0, -1_000);
    expect(waitOf(await reserve(account, limits(null, 100), 1, 1))).toBe(0);
  });

  test('ignores recipients without a limit', async () => {
    const account = newAccount();
    await reserve(account, limits(100), 1);
    await spendReservation(opened.ledger.pool, account, 0, 1_000_000);
    expect(waitOf(await reserve(account, limits(100), 1))).toBe(0);
  });
});

describe('setRateLimits', () => {
  test('overrides the rate of the accounts file until it is reset', async () => {
    const account = newAccount();
    await setRateLimits(opened.ledger.pool, account, { requestsPerSecond: 50 });
    expect((await reserve(account, limits(200, 7), 64)).limits).toEqual(limits(50, 7));
    expect(await readRateLimits(opened.ledger.pool, account)).toEqual(limits(50));
    await setRateLimits(opened.ledger.pool, account, { requestsPerSecond: null });
    expect((await reserve(account, limits(200, 7), 64)).limits).toEqual(limits(200, 7));
  });

  test('keeps the rate that is not named', async () => {
    const account = newAccount();
    await setRateLimits(opened.ledger.pool, account, { requestsPerSecond: 50, recipientsPerSecond: 0.5 });
    await setRateLimits(opened.ledger.pool, account, { requestsPerSecond: 60 });
    await setRateLimits(opened.ledger.pool, account, {});
    expect((await listRateLimits(opened.ledger.pool)).get(account)).toEqual(limits(60, 0.5));
  });

  test('starts a new rate without the debt of the former one', async () => {
    const account = newAccount();
    await reserveMany(4, account, limits(0.1, 0.1), 1, 100);
    await setRateLimits(opened.ledger.pool, account, { requestsPerSecond: 100, recipientsPerSecond: 100 });
    expect(waitOf(await reserve(account, limits(0.1, 0.1), 1))).toBe(0);
  });

  test('changes nothing if the rate is the same', async () => {
    const account = newAccount();
    await setRateLimits(opened.ledger.pool, account, { requestsPerSecond: 1 });
    await reserve(account, limits(null), 1);
    await setRateLimits(opened.ledger.pool, account, { requestsPerSecond: 1 });
    expect(waitOf(await reserve(account, limits(null), 1))).toBeGreaterThan(500);
  });
});

test('a changed rate of the file keeps the number of requests that are owed', async () => {
  const account = newAccount();
  // Ten seconds each.
  await reserveMany(3, account, limits(0.1), 1);
  const faster = waitOf(await reserve(account, limits(10), 1));
  expect(faster).toBeGreaterThan(200);
  expect(faster).toBeLessThanOrEqual(300);
  const slower = waitOf(await reserve(account, limits(0.1), 1));
  expect(slower).toBeGreaterThan(10_000);
  expect(slower).toBeLessThanOrEqual(40_000);
});

test('the debt at the slowest possible rate does not overflow', async () => {
  const account = newAccount();
  const slowest = limits(0.00000001, 0.00000001);
  await reserveMany(2, account, slowest, 1, 1_000_000);
  await spendReservation(opened.ledger.pool, account, 0, 1_000_000);
  expect((await reserve(account, slowest, 1, 1_000_000)).requests).toBe(1);
  expect((await reserve(account, limits(100_000, 100_000), 1)).requests).toBe(1);
});

test('look-ups of all workers together are limited to one a second', async () => {
  const account = newAccount();
  const all = await Promise.all(Array.from({ length: 6 }, () => reserveLookUp(opened.ledger.pool, account)));
  const times = all.map(({ admittedAt }) => admittedAt).toSorted((one, other) => one - other);
  for (const [index, time] of times.slice(1).entries())
    expect(time - (times[index] ?? 0)).toBeCloseTo(1_000, 1);
  expect(Math.min(...all.map(({ now }) => now))).toBeGreaterThanOrEqual((times[0] ?? 0) - rounding);
});

/** Makes the row look as if the clock of the database had been ahead until now. */
async function setClockBack(account: string, hours: number): Promise<void> {
  await opened.ledger.pool.query(
    `UPDATE rate_limits
     SET requests_until = requests_until + $2, recipients_until = recipients_until + $2,
         status_until = status_until + $2, seen_at = seen_at + $2
     WHERE account = $1`,
    [account, `${hours} hours`],
  );
}

test('a clock that is set back delays no reservation, changes no debt and is recorded', async () => {
  const account = newAccount();
  const rates = limits(10, 100);
  const before = (await reserveMany(10, account, rates, 1)).at(-1);
  const lookUp = await reserveLookUp(opened.ledger.pool, account);
  await setClockBack(account, 1);
  const after = await reserve(account, rates, 1);
  expect(waitOf(after)).toBeGreaterThan(500);
  expect(waitOf(after)).toBeLessThan(waitOf(before ?? after) + 200);
  expect(after.steppedBack).toBeGreaterThan(3_599_000);
  expect((await reserve(account, rates, 1)).steppedBack).toBe(0);
  // The second of the look-up had begun before the step.
  const next = await reserveLookUp(opened.ledger.pool, account);
  expect(next.admittedAt - next.now).toBeLessThan(lookUp.admittedAt - lookUp.now + 1_000 + rounding);
  await setClockBack(account, 1);
  const third = await reserveLookUp(opened.ledger.pool, account);
  expect(third.admittedAt - third.now).toBeLessThan(2_000 + rounding);
  expect(waitOf(await reserve(account, rates, 1))).toBeLessThan(1_500);
});

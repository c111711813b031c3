import { expect, test } from 'vitest';
import { createLease } from '../../../src/engine/dispatch/lease.ts';

/** A lease that begins at 0, with clocks and a queue of the test's own. */
function createTestLease() {
  const world = { now: 0, clockAhead: 0, renewals: 0, renew: async () => true };
  const lease = createLease(
    { monotonic: () => world.now, now: () => new Date(world.now + world.clockAhead) },
    () => {
      world.renewals++;
      return world.renew();
    },
  );
  return { world, lease };
}

test('a lease is valid for ten seconds without a question to the ledger', async () => {
  const { world, lease } = createTestLease();
  world.now = 9_999;
  expect(lease.isValid()).toBe(true);
  expect(await lease.ensureValid()).toBe(true);
  expect(world.renewals).toBe(0);
});

test('after ten seconds without a renewal the ledger is asked before anything is sent', async () => {
  const { world, lease } = createTestLease();
  world.now = 10_000;
  expect(lease.isValid()).toBe(false);
  expect(await lease.ensureValid()).toBe(true);
  expect(lease.isValid()).toBe(true);
  expect(world.renewals).toBe(1);
  world.now = 19_999;
  expect(await lease.ensureValid()).toBe(true);
  expect(world.renewals).toBe(1);
});

test('a renewal that arrives makes the lease valid for ten seconds more, from when it was begun', async () => {
  const { world, lease } = createTestLease();
  world.renew = async () => {
    world.now += 3_000;
    return true;
  };
  await lease.renew();
  world.now = 9_999;
  expect(await lease.ensureValid()).toBe(true);
  expect(world.renewals).toBe(1);
});

test('a lease of a slice that is another worker’s is lost, for good, and its signal is aborted', async () => {
  const { world, lease } = createTestLease();
  expect(lease.lost.aborted).toBe(false);
  world.renew = async () => false;
  await lease.renew();
  expect(lease.lost.aborted).toBe(true);
  expect(lease.isValid()).toBe(false);
  world.renew = async () => true;
  expect(await lease.ensureValid()).toBe(false);
});

test('a slice that was taken while the process stood still is noticed before anything is sent', async () => {
  const { world, lease } = createTestLease();
  world.now = 60_000;
  world.renew = async () => false;
  expect(await lease.ensureValid()).toBe(false);
  expect(lease.lost.aborted).toBe(true);
});

test('a machine that slept while only its clock went on asks the ledger before it sends anything', async () => {
  const { world, lease } = createTestLease();
  world.clockAhead = 3_600_000;
  expect(lease.isValid()).toBe(false);
  world.renew = async () => false;
  expect(await lease.ensureValid()).toBe(false);
});

test('a clock that is set back makes no lease valid for longer', async () => {
  const { world, lease } = createTestLease();
  world.clockAhead = -3_600_000;
  world.now = 9_999;
  expect(lease.isValid()).toBe(true);
  world.now = 10_000;
  expect(lease.isValid()).toBe(false);
});

test('a renewal that began before the process stood still proves nothing; another one is begun', async () => {
  const { world, lease } = createTestLease();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  world.renew = () => promise;
  const renewing = lease.renew();
  world.now = 60_000;
  const held = lease.ensureValid();
  world.renew = async () => false;
  resolve(true);
  await renewing;
  expect(await held).toBe(false);
  expect(world.renewals).toBe(2);
});

test('renewals that take too long to arrive do not make a lease valid', async () => {
  const { world, lease } = createTestLease();
  world.now = 10_000;
  world.renew = async () => {
    world.now += 11_000;
    return true;
  };
  expect(await lease.ensureValid()).toBe(false);
  expect(lease.lost.aborted).toBe(false);
});

test('the failure of a ledger that is away reaches the caller', async () => {
  const { world, lease } = createTestLease();
  world.now = 10_000;
  world.renew = async () => {
    throw new Error('Connection terminated');
  };
  await expect(lease.ensureValid()).rejects.toThrow('Connection terminated');
  world.renew = async () => true;
  expect(await lease.ensureValid()).toBe(true);
});

test('however many callers ask at once, the lease is renewed once', async () => {
  const { world, lease } = createTestLease();
  world.now = 10_000;
  expect(await Promise.all([lease.ensureValid(), lease.renew(), lease.ensureValid()])).toEqual([
    ...[true, undefined, true],
  ]);
  expect(world.renewals).toBe(1);
});

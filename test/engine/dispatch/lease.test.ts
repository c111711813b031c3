import { expect, test } from 'vitest';
import { createLease } from '../../../src/engine/dispatch/lease.ts';

/** A lease that begins at 0. */
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

test('a lease is valid for ten seconds without a query', async () => {
  const { world, lease } = createTestLease();
  world.now = 9_999;
  expect(lease.isValid()).toBe(true);
  expect(await lease.ensureValid()).toBe(true);
  expect(world.renewals).toBe(0);
});

test('ten seconds after the last renewal, ensureValid asks the ledger', async () => {
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

test('a renewal makes the lease valid for ten seconds from the start of the renewal', async () => {
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

test('a lease that another worker has is lost for good, and its signal aborts', async () => {
  const { world, lease } = createTestLease();
  expect(lease.lost.aborted).toBe(false);
  world.renew = async () => false;
  await lease.renew();
  expect(lease.lost.aborted).toBe(true);
  expect(lease.isValid()).toBe(false);
  world.renew = async () => true;
  expect(await lease.ensureValid()).toBe(false);
});

test('a slice that was reclaimed during a pause of the process is noticed by ensureValid', async () => {
  const { world, lease } = createTestLease();
  world.now = 60_000;
  world.renew = async () => false;
  expect(await lease.ensureValid()).toBe(false);
  expect(lease.lost.aborted).toBe(true);
});

test('after a sleep of the machine, ensureValid asks the ledger', async () => {
  const { world, lease } = createTestLease();
  world.clockAhead = 3_600_000;
  expect(lease.isValid()).toBe(false);
  world.renew = async () => false;
  expect(await lease.ensureValid()).toBe(false);
});

test('a clock that is set back does not lengthen a lease', async () => {
  const { world, lease } = createTestLease();
  world.clockAhead = -3_600_000;
  world.now = 9_999;
  expect(lease.isValid()).toBe(true);
  world.now = 10_000;
  expect(lease.isValid()).toBe(false);
});

test('a renewal that began before a pause of the process is followed by another', async () => {
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

test('a renewal that takes longer than the lease does not make it valid', async () => {
  const { world, lease } = createTestLease();
  world.now = 10_000;
  world.renew = async () => {
    world.now += 11_000;
    return true;
  };
  expect(await lease.ensureValid()).toBe(false);
  expect(lease.lost.aborted).toBe(false);
});

test('ensureValid throws when the ledger cannot be reached', async () => {
  const { world, lease } = createTestLease();
  world.now = 10_000;
  world.renew = async () => {
    throw new Error('Connection terminated');
  };
  await expect(lease.ensureValid()).rejects.toThrow('Connection terminated');
  world.renew = async () => true;
  expect(await lease.ensureValid()).toBe(true);
});

test('concurrent calls renew the lease once', async () => {
  const { world, lease } = createTestLease();
  world.now = 10_000;
  expect(await Promise.all([lease.ensureValid(), lease.renew(), lease.ensureValid()])).toEqual([
    true,
    undefined,
    true,
  ]);
  expect(world.renewals).toBe(1);
});

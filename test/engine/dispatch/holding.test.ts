import { expect, test } from 'vitest';
import { holdSlice } from '../../../src/engine/dispatch/holding.ts';
import type { HeldSlice } from '../../../src/ledger/slices/acquire.ts';

const slice: HeldSlice = {
  ...{
    run: 'run',
    slice: 1,
    first: 1,
    last: 500,
    owner: 'owner',
    claimedTo: 0,
    version: 0,
    account: 'main',
    channel: 'sms',
    definition: {},
    window: null,
  },
  job: { id: 'job', retryCount: 0 },
};

/** A slice that is held from 0 on, with a clock and a queue of the test's own. */
function hold() {
  const world = { now: 0, touches: 0, touch: async () => true };
  const holding = holdSlice(
    slice,
    () => world.now,
    () => {
      world.touches++;
      return world.touch();
    },
  );
  return { world, holding };
}

test('a slice is held for ten seconds without asking anybody', async () => {
  const { world, holding } = hold();
  world.now = 9_999;
  expect(holding.surelyHeld()).toBe(true);
  expect(await holding.stillHeld()).toBe(true);
  expect(world.touches).toBe(0);
});

test('after ten seconds without a sign of life the ledger is asked before anything is sent', async () => {
  const { world, holding } = hold();
  world.now = 10_000;
  expect(holding.surelyHeld()).toBe(false);
  expect(await holding.stillHeld()).toBe(true);
  expect(holding.surelyHeld()).toBe(true);
  expect(world.touches).toBe(1);
  world.now = 19_999;
  expect(await holding.stillHeld()).toBe(true);
  expect(world.touches).toBe(1);
});

test('a sign of life that arrives holds the slice for ten seconds more, from when it was given', async () => {
  const { world, holding } = hold();
  world.touch = async () => {
    world.now += 3_000;
    return true;
  };
  await holding.touch();
  world.now = 9_999;
  expect(await holding.stillHeld()).toBe(true);
  expect(world.touches).toBe(1);
});

test('a slice that is another worker’s is lost, for good, and whoever works it is told', async () => {
  const { world, holding } = hold();
  expect(holding.lost.aborted).toBe(false);
  world.touch = async () => false;
  await holding.touch();
  expect(holding.lost.aborted).toBe(true);
  expect(holding.surelyHeld()).toBe(false);
  world.touch = async () => true;
  expect(await holding.stillHeld()).toBe(false);
});

test('a slice that was taken while the process stood still is noticed before anything is sent', async () => {
  const { world, holding } = hold();
  world.now = 60_000;
  world.touch = async () => false;
  expect(await holding.stillHeld()).toBe(false);
  expect(holding.lost.aborted).toBe(true);
});

test('a sign of life that began before the process stood still proves nothing; another one is given', async () => {
  const { world, holding } = hold();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  world.touch = () => promise;
  const touching = holding.touch();
  world.now = 60_000;
  const held = holding.stillHeld();
  world.touch = async () => false;
  resolve(true);
  await touching;
  expect(await held).toBe(false);
  expect(world.touches).toBe(2);
});

test('signs of life that take too long to arrive do not hold a slice', async () => {
  const { world, holding } = hold();
  world.now = 10_000;
  world.touch = async () => {
    world.now += 11_000;
    return true;
  };
  expect(await holding.stillHeld()).toBe(false);
  expect(holding.lost.aborted).toBe(false);
});

test('a ledger that is away is told to whoever asks', async () => {
  const { world, holding } = hold();
  world.now = 10_000;
  world.touch = async () => {
    throw new Error('Connection terminated');
  };
  await expect(holding.stillHeld()).rejects.toThrow('Connection terminated');
  world.touch = async () => true;
  expect(await holding.stillHeld()).toBe(true);
});

test('however many ask at once, one sign of life is given', async () => {
  const { world, holding } = hold();
  world.now = 10_000;
  expect(await Promise.all([holding.stillHeld(), holding.touch(), holding.stillHeld()])).toEqual([
    ...[true, undefined, true],
  ]);
  expect(world.touches).toBe(1);
});

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import type { SlicePlan } from '../../../src/ledger/slices/enqueue.ts';
import { type DoubtPolicy, finishSlice } from '../../../src/ledger/slices/finish.ts';
import { returnSlice } from '../../../src/ledger/slices/reclaim.ts';
import { expireLeaseOf } from '../../support/slices.ts';
import {
  type Holding,
  type Model,
  type ModelSlice,
  requestsIn,
  type Settings,
  sliceNumbered,
} from './model.ts';
import { acquirable, acquire, finish, handBack, reclaim } from './predict-slices.ts';
import { choose, type Step } from './step.ts';
import { killWorker, startWorker, type World } from './world.ts';

/** What workers do with slices. */

export function planOf(run: string, { maxAccountSlices, maxRunSlices, canary }: Settings): SlicePlan {
  return { run, account: run, maxAccountSlices, maxRunSlices, canary, priority: 'normal' };
}

export function policyOf({ lookUp, resends }: Settings): DoubtPolicy {
  return { lookUp, resends };
}

/** Those that a living worker has not given up, whether they are still its own or not. */
export function inHand(model: Model): readonly Holding[] {
  return model.holdings.filter(({ over }) => !over);
}

/** Of those, what has requests. */
export function sendersInHand(model: Model): readonly Holding[] {
  return inHand(model).filter(({ slice }) => sliceNumbered(model, slice).phase === 'sending');
}

export function sendingSlice(world: World, holding: Holding): SendingSlice {
  const slice = heldSlice(world, holding);
  if (slice.phase !== 'sending') throw new Error(`slice ${slice.slice} has no requests`);
  return slice;
}

export function heldSlice({ held }: World, { owner }: Holding) {
  const slice = held.get(owner);
  if (!slice) throw new Error(`nobody was given a slice as ${owner}`);
  return slice;
}

/** @param idly also when there is nothing to acquire */
export function acquireNext(place: number, idly: boolean): Step {
  return {
    name: `acquire(${place})`,
    possible(model) {
      const { slices, stale } = acquirable(model);
      return idly || stale || slices.length > 0;
    },
    async take(model, world) {
      const worker = choose(model.workers, place);
      const owner = randomUUID();
      const taking = { worker, owner, ignoredAccounts: [], now: () => new Date() };
      const acquisition = await world.operations.acquireSlice(world.queue, world.pool, taking);
      const { slices, stale } = acquirable(model);
      switch (acquisition.kind) {
        case 'none':
          expect(slices.length + Number(stale), 'there was nothing to acquire').toBe(0);
          break;
        case 'stale':
          expect(stale, 'a job that stands for no slice').toBe(true);
          model.staleJobs--;
          break;
        case 'held':
          expect(slices, 'the slice that was acquired').toContain(acquisition.slice.slice);
          world.held.set(owner, acquisition.slice);
          acquire(model, {
            ...{ owner, worker, slice: acquisition.slice.slice, over: false },
            ...{ ahead: undefined, last: undefined },
          });
          expect(acquisition.slice, 'how far the slice is').toMatchObject(
            progress(sliceNumbered(model, acquisition.slice.slice)),
          );
      }
    },
  };
}

/**
 * @param interrupted the worker was to stop before it was done
 * @param hastily also when something of the slice is left to do
 */
export function finishOne(place: number, interrupted: boolean, hastily: boolean): Step {
  const ready = (model: Model) => inHand(model).filter((holding) => hastily || isWorked(model, holding));
  return {
    name: `finish(${place}${interrupted ? ', interrupted' : ''})`,
    possible: (model) => ready(model).length > 0,
    take: (model, world) => finishHeld(model, world, choose(ready(model), place), interrupted),
  };
}

const progress = ({ phase, claimedTo, version }: ModelSlice) =>
  phase === 'sending' ? { phase, claimedTo, version } : { phase };

function isWorked(model: Model, { owner, slice }: Holding): boolean {
  const { state, owner: holder, claimedTo, last } = sliceNumbered(model, slice);
  if (state !== 'held' || holder !== owner) return true;
  if (claimedTo < last) return false;
  const left = (['planned', 'sending'] as const).flatMap((is) =>
    requestsIn(model, sliceNumbered(model, slice), is),
  );
  return left.length === 0;
}

/** Where the holder still has requests, it has lost patience with them: they are in doubt. */
export async function finishHeld(
  model: Model,
  world: World,
  holding: Holding,
  interrupted: boolean,
): Promise<void> {
  const { queue, pool, run } = world;
  const [plan, policy] = [planOf(run, model.settings), policyOf(model.settings)];
  const slice = heldSlice(world, holding);
  const finished = await finishSlice(queue, pool, slice, plan, policy, interrupted, new Date());
  holding.over = true;
  expect(finished, `what finishing slice ${holding.slice} comes to`).toBe(
    finish(model, holding, interrupted),
  );
}

export function returnOne(place: number): Step {
  const untouched = (model: Model) =>
    inHand(model).filter(({ owner }) =>
      model.requests.every(({ attempts }) => attempts.every((attempt) => attempt.owner !== owner)),
    );
  return {
    name: `return(${place})`,
    possible: (model) => untouched(model).length > 0,
    async take(model, world) {
      const holding = choose(untouched(model), place);
      await returnSlice(world.queue, world.pool, heldSlice(world, holding), new Date());
      holding.over = true;
      handBack(model, holding);
    },
  };
}

/** A worker's process is killed; another one is started. */
export function die(place: number): Step {
  return {
    name: `die(${place})`,
    possible: ({ settings }) => settings.deadly,
    async take(model, world) {
      await killWorker(model, world, choose(model.workers, place));
      await startWorker(model, world);
    },
  };
}

export const reclaimDead: Step = {
  name: 'reclaim',
  possible: ({ slices }) => slices.some(({ state }) => state === 'held'),
  async take(model, { queue, pool, operations }) {
    const reclaimed = await operations.reclaimSlicesOfDeadWorkers(queue, pool, null, () => new Date());
    expect(reclaimed, 'slices of dead workers').toBe(reclaim(model));
  },
};

/** The process of a worker stands still, or its network is away: its lease expires. */
export function expireLease(place: number): Step {
  const leased = (model: Model) => model.slices.filter(({ state, expired }) => state === 'held' && !expired);
  return {
    name: `expire(${place})`,
    possible: (model) => leased(model).length > 0,
    async take(model, { ledger, run }) {
      const slice = choose(leased(model), place);
      await expireLeaseOf(ledger, run, slice.number);
      slice.expired = true;
    },
  };
}

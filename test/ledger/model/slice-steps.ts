import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import type { SlicePlan } from '../../../src/ledger/slices/enqueue.ts';
import { type DoubtPolicy, finishSlice } from '../../../src/ledger/slices/finish.ts';
import { returnSlice } from '../../../src/ledger/slices/reclaim.ts';
import { expireLeaseOf } from '../../support/slices.ts';
import { findSlice, type Holding, type Model, type ModelSlice, requestsIn, type Settings } from './model.ts';
import { acquirable, acquire, finish, reclaim, returnHeld } from './predict-slices.ts';
import { choose, type Step } from './step.ts';
import { startWorker, stopWorker, type World } from './world.ts';

/** Steps of workers with slices. */

export function planOf(run: string, { maxAccountSlices, maxRunSlices, firstAlone }: Settings): SlicePlan {
  return { run, account: run, maxAccountSlices, maxRunSlices, firstAlone, priority: 'normal' };
}

export function policyOf({ lookUp, resends }: Settings): DoubtPolicy {
  return { lookUp, resends };
}

/** Those that running workers have not released, even if they lost them. */
export function activeHoldings(model: Model): readonly Holding[] {
  return model.holdings.filter(({ isReleased }) => !isReleased);
}

export function sendingHoldings(model: Model): readonly Holding[] {
  return activeHoldings(model).filter(({ slice }) => findSlice(model, slice).phase === 'sending');
}

export function sendingSlice(world: World, holding: Holding): SendingSlice {
  const slice = heldSlice(world, holding);
  if (slice.phase !== 'sending') throw new Error(`slice ${slice.slice} has no requests`);
  return slice;
}

export function heldSlice({ held }: World, { owner }: Holding) {
  const slice = held.get(owner);
  if (!slice) throw new Error(`no slice was acquired as ${owner}`);
  return slice;
}

export function acquireNext(index: number, evenIfNone: boolean): Step {
  return {
    name: `acquire(${index})`,
    possible(model) {
      const { slices, stale } = acquirable(model);
      return evenIfNone || stale || slices.length > 0;
    },
    async run(model, world) {
      const worker = choose(model.workers, index);
      const owner = randomUUID();
      const options = { worker, owner, ignoredAccounts: [], now: () => new Date() };
      const acquisition = await world.operations.acquireSlice(world.queue, world.pool, options);
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
            owner,
            worker,
            slice: acquisition.slice.slice,
            isReleased: false,
            readAhead: undefined,
            last: undefined,
          });
          expect(acquisition.slice, 'how far the slice is').toMatchObject(
            progress(findSlice(model, acquisition.slice.slice)),
          );
      }
    },
  };
}

/** @param interrupted the worker was stopped before it was done */
export function finishOne(index: number, interrupted: boolean, evenIfUnfinished: boolean): Step {
  const ready = (model: Model) =>
    activeHoldings(model).filter((holding) => evenIfUnfinished || isWorked(model, holding));
  return {
    name: `finish(${index}${interrupted ? ', interrupted' : ''})`,
    possible: (model) => ready(model).length > 0,
    run: (model, world) => finishHeld(model, world, choose(ready(model), index), interrupted),
  };
}

const progress = ({ phase, claimedTo, version }: ModelSlice) =>
  phase === 'sending' ? { phase, claimedTo, version } : { phase };

function isWorked(model: Model, { owner, slice }: Holding): boolean {
  const { state, owner: holder, claimedTo, last } = findSlice(model, slice);
  if (state !== 'held' || holder !== owner) return true;
  if (claimedTo < last) return false;
  const left = (['planned', 'sending'] as const).flatMap((is) =>
    requestsIn(model, findSlice(model, slice), is),
  );
  return left.length === 0;
}

/** Requests that the worker still has in flight become in doubt. */
export async function finishHeld(
  model: Model,
  world: World,
  holding: Holding,
  interrupted: boolean,
): Promise<void> {
  const { queue, pool, run } = world;
  const [plan, policy] = [planOf(run, model.settings), policyOf(model.settings)];
  const slice = heldSlice(world, holding);
  const finished = await finishSlice(queue, pool, slice, { plan, policy, interrupted, now: new Date() });
  holding.isReleased = true;
  expect(finished, `what finishing slice ${holding.slice} comes to`).toBe(
    finish(model, holding, interrupted),
  );
}

export function returnOne(index: number): Step {
  const untouched = (model: Model) =>
    activeHoldings(model).filter(({ owner }) =>
      model.requests.every(({ attempts }) => attempts.every((attempt) => attempt.owner !== owner)),
    );
  return {
    name: `return(${index})`,
    possible: (model) => untouched(model).length > 0,
    async run(model, world) {
      const holding = choose(untouched(model), index);
      await returnSlice(world.queue, world.pool, heldSlice(world, holding), new Date());
      holding.isReleased = true;
      returnHeld(model, holding);
    },
  };
}

/** Kills the process of a worker and starts another one. */
export function endWorker(index: number): Step {
  return {
    name: `endWorker(${index})`,
    possible: ({ settings }) => settings.workersMayEnd,
    async run(model, world) {
      await stopWorker(model, world, choose(model.workers, index));
      await startWorker(model, world);
    },
  };
}

export const reclaimEnded: Step = {
  name: 'reclaim',
  possible: ({ slices }) => slices.some(({ state }) => state === 'held'),
  async run(model, { queue, pool, operations }) {
    const reclaimed = await operations.reclaimSlicesOfEndedWorkers(queue, pool, null, () => new Date());
    expect(reclaimed, 'slices of ended workers').toBe(reclaim(model));
  },
};

/** The process of a worker is paused, or loses its network. */
export function expireLease(index: number): Step {
  const leased = (model: Model) => model.slices.filter(({ state, expired }) => state === 'held' && !expired);
  return {
    name: `expire(${index})`,
    possible: (model) => leased(model).length > 0,
    async run(model, { ledger, run }) {
      const slice = choose(leased(model), index);
      await expireLeaseOf(ledger, run, slice.number);
      slice.expired = true;
    },
  };
}

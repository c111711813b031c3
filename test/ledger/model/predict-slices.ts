import {
  doubtsSlice,
  findSlice,
  type Holding,
  isHeldBy,
  type Model,
  type ModelSlice,
  requestsIn,
} from './model.ts';
import { cancelPlanned, markInDoubt } from './predict-requests.ts';

/** Predicts the states of slices. */

export function begin(model: Model): void {
  if (model.run !== 'planned' && model.run !== 'paused' && model.run !== 'running') return;
  dequeue(model);
  const doubts = doubtsSlice(model);
  if (model.run === 'paused' && doubts.state === 'done') doubts.state = 'waiting';
  model.run = 'running';
  enqueue(model);
  complete(model);
}

export function pause(model: Model): boolean {
  if (model.run !== 'planned' && model.run !== 'running') return false;
  model.run = 'paused';
  dequeue(model);
  return true;
}

export function cancel(model: Model): boolean {
  if (model.run !== 'planned' && model.run !== 'running' && model.run !== 'paused') return false;
  model.run = 'cancelled';
  dequeue(model);
  for (const slice of model.slices) {
    cancelPlanned(model, slice);
    if (slice.state === 'waiting' || slice.state === 'unpromoted') slice.state = 'done';
  }
  return true;
}

export function promote(model: Model): void {
  if (model.run !== 'running') return;
  for (const slice of model.slices) if (slice.state === 'unpromoted') slice.state = 'waiting';
  enqueue(model);
}

function enqueue(model: Model): void {
  const { maxRunSlices, firstAlone } = model.settings;
  const inQueue = model.slices.filter(({ state }) => state === 'queued' || state === 'held').length;
  const firstDone = findSlice(model, 1).state === 'done';
  const next = model.slices
    .filter(
      ({ number, phase, state }) =>
        phase === 'sending' && state === 'waiting' && (!firstAlone || number === 1 || firstDone),
    )
    .toSorted((one, other) => one.number - other.number)
    .slice(0, Math.max(0, maxRunSlices - inQueue));
  for (const slice of next) slice.state = 'queued';
}

function dequeue(model: Model): void {
  for (const slice of model.slices) if (slice.state === 'queued') slice.state = 'waiting';
}

function complete(model: Model): void {
  if (model.run !== 'running' && model.run !== 'paused') return;
  const doubts = doubtsSlice(model);
  if (model.slices.some(({ phase, state }) => phase === 'sending' && state !== 'done')) return;
  if (doubts.state === 'queued' || doubts.state === 'held') return;
  const { lookUp, resends } = model.settings;
  const open = model.requests.some(
    (request) =>
      request.state === 'in_doubt' && (request.resends < resends || (lookUp && doubts.state === 'waiting')),
  );
  if (open) {
    if (model.run === 'running') doubts.state = 'queued';
    return;
  }
  model.run = 'completed';
  doubts.state = 'done';
}

/** The slices that a worker can get, and whether a job without a slice is queued. */
export function acquirable(model: Model): { readonly slices: readonly number[]; readonly stale: boolean } {
  const busy = model.slices.filter(({ state, expired }) => state === 'held' && !expired).length;
  if (busy >= model.settings.maxAccountSlices) return { slices: [], stale: false };
  const slices = model.slices.filter(
    ({ state, expired }) => state === 'queued' || (state === 'held' && expired),
  );
  return { slices: slices.map(({ number }) => number), stale: model.staleJobs > 0 };
}

export function acquire(model: Model, holding: Holding): void {
  const slice = findSlice(model, holding.slice);
  if (model.run === 'planned') model.run = 'running';
  slice.version++;
  Object.assign(slice, { state: 'held', owner: holding.owner, worker: holding.worker, expired: false });
  markInDoubt(model, slice);
  model.holdings.push(holding);
}

export function finish(
  model: Model,
  { owner, slice: number }: Holding,
  interrupted: boolean,
): 'done' | 'returned' | 'lost' {
  const slice = findSlice(model, number);
  if (!isHeldBy(slice, owner)) return 'lost';
  if (model.run === 'cancelled') cancelPlanned(model, slice);
  markInDoubt(model, slice);
  endHolding(model, slice, mustWait(model, slice, interrupted) ? 'waiting' : 'done');
  const { state } = slice;
  if (model.run === 'running') enqueue(model);
  complete(model);
  return state === 'done' ? 'done' : 'returned';
}

function mustWait(model: Model, slice: ModelSlice, interrupted: boolean): boolean {
  if (slice.claimedTo < slice.last) return model.run !== 'cancelled';
  if (slice.phase === 'sending') return requestsIn(model, slice, 'planned').length > 0;
  if (model.slices.some(({ phase, state }) => phase === 'sending' && state !== 'done')) return true;
  return model.run !== 'cancelled' && (interrupted || model.run !== 'running');
}

function endHolding(model: Model, slice: ModelSlice, state: 'waiting' | 'done'): void {
  // Only the worker that fetches an expired job can end it, and finds no slice for it.
  if (slice.expired) model.staleJobs++;
  Object.assign(slice, { state, owner: null, worker: null, expired: false });
}

export function returnHeld(model: Model, { owner, slice: number }: Holding): void {
  const slice = findSlice(model, number);
  if (isHeldBy(slice, owner)) release(model, slice);
}

function release(model: Model, slice: ModelSlice): void {
  markInDoubt(model, slice);
  if (model.run === 'planned' || model.run === 'running') {
    Object.assign(slice, { state: 'queued', owner: null, worker: null, expired: false });
    return;
  }
  if (model.run === 'cancelled') cancelPlanned(model, slice);
  endHolding(model, slice, model.run === 'cancelled' ? 'done' : 'waiting');
}

export function reclaim(model: Model): number {
  const unowned = model.slices.filter(
    ({ state, worker }) => state === 'held' && worker !== null && !model.workers.includes(worker),
  );
  for (const slice of unowned) release(model, slice);
  return unowned.length;
}

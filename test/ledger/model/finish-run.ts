import { expect } from 'vitest';
import { compare } from './compare.ts';
import { doubtsSlice, type Model } from './model.ts';
import { beginOrResume, promoteStep, resendByPolicy } from './operator-steps.ts';
import { claimSome, flightsOfOwners, sendFlight } from './request-steps.ts';
import { settleSome } from './settle-steps.ts';
import { acquireNext, activeHoldings, finishHeld, reclaimEnded } from './slice-steps.ts';
import { startWorker, stopWorker, type World } from './world.ts';

const maxSlices = 200;

/** All workers end; then one without failures finishes the run. */
export async function finishRun(model: Model, world: World): Promise<void> {
  for (const worker of [...model.workers]) await stopWorker(model, world, worker);
  await startWorker(model, world);
  await reclaimEnded.run(model, world);
  await compare(model, world);
  await beginOrResume(true).run(model, world);
  if (promoteStep.possible(model)) await promoteStep.run(model, world);
  for (let count = 0; hasWork(model); count++) {
    expect(count, 'slices until the end').toBeLessThan(maxSlices);
    await acquireNext(0, true).run(model, world);
    await compare(model, world);
    await sendAll(model, world);
  }
  await compare(model, world);
  expect(['completed', 'cancelled'], 'what the run comes to').toContain(model.run);
}

function hasWork({ slices, staleJobs }: Model): boolean {
  return staleJobs > 0 || slices.some(({ state }) => state === 'queued' || state === 'held');
}

/** All claimed requests are accepted. */
async function sendAll(model: Model, world: World): Promise<void> {
  for (const holding of activeHoldings(model)) {
    if (holding.slice === doubtsSlice(model).number) await resendByPolicy(0).run(model, world);
    else await claimSome(0, { limit: 10, acknowledged: true, evenIfNone: true }).run(model, world);
    for (const flight of flightsOfOwners(model)) {
      await sendFlight(model, world, flight, { answer: 'accepted', accepted: true });
      await settleSome(0, 1, { divide: false, retriesSpent: false, includeUnsent: false }).run(model, world);
    }
    await finishHeld(model, world, holding, false);
  }
}

import { expect } from 'vitest';
import { compare } from './compare.ts';
import { doubtsOf, type Model } from './model.ts';
import { beginOrResume, resendByPolicy } from './operator-steps.ts';
import { claimSome, ownFlights, sendFlight } from './request-steps.ts';
import { settleSome } from './settle-steps.ts';
import { acquireNext, finishHeld, inHand, reclaimDead } from './slice-steps.ts';
import { killWorker, startWorker, type World } from './world.ts';

/** More slices than a run of the test can need. */
const most = 200;

/** Everybody dies; then one worker, with whom nothing goes wrong, resumes the run and works it until nothing is left. */
export async function walkToTheEnd(model: Model, world: World): Promise<void> {
  for (const worker of [...model.workers]) await killWorker(model, world, worker);
  await startWorker(model, world);
  await reclaimDead.take(model, world);
  await compare(model, world);
  await beginOrResume(true).take(model, world);
  for (let count = 0; isLeft(model); count++) {
    expect(count, 'slices until the end').toBeLessThan(most);
    await acquireNext(0, true).take(model, world);
    await compare(model, world);
    await workAll(model, world);
  }
  await compare(model, world);
  expect(['completed', 'cancelled'], 'what the run comes to').toContain(model.run);
}

function isLeft({ slices, staleJobs }: Model): boolean {
  return staleJobs > 0 || slices.some(({ state }) => state === 'queued' || state === 'held');
}

/** Everything that is claimed is accepted. */
async function workAll(model: Model, world: World): Promise<void> {
  for (const holding of inHand(model)) {
    if (holding.slice === doubtsOf(model).number) await resendByPolicy(0).take(model, world);
    else await claimSome(0, { limit: 10, heard: true, idly: true }).take(model, world);
    for (const flight of ownFlights(model)) {
      await sendFlight(model, world, flight, 'accepted', true);
      await settleSome(0, 1, { divide: false, spent: false, unsent: false }).take(model, world);
    }
    await finishHeld(model, world, holding, false);
  }
}

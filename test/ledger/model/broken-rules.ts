import fc from 'fast-check';
import { expect } from 'vitest';
import type { Ledger } from '../../../src/ledger/connection.ts';
import type { Mutation } from './operations.ts';
import { beginOrResume } from './operator-steps.ts';
import { expectHistoryKept, parameters, promisesProperty } from './property.ts';
import { readNext } from './range-steps.ts';
import { settleSome } from './settle-steps.ts';
import { acquireNext, expireLease } from './slice-steps.ts';
import type { Step } from './step.ts';

/** That the model notices a ledger that breaks a rule; and that it is what it says, and no mistake of the test's. */

const noticedError = { name: 'AssertionError' };

/** @param seed one whose first history comes to it; where that is no longer so, others are tried */
export async function expectNoticed(ledger: Ledger, seed: number, mutation: Mutation): Promise<void> {
  const property = promisesProperty(ledger, mutation);
  const { failed, errorInstance } = await fc.check(property, { ...parameters, seed, numRuns: 200 });
  expect(failed, 'whether the property noticed anything').toBe(true);
  expect(errorInstance, 'what it noticed').toMatchObject(noticedError);
}

/** Of a run of one slice. */
const settings = {
  ...{ recipients: 6, maxAccountSlices: 4, maxRunSlices: 3, resends: 0 },
  ...{ canary: false, lookUp: false, workersMayEnd: false, mayCancel: false },
};

/** For what few histories come to: this one holds with the rule, and not without it. */
export async function expectNoticedInHistory(
  ledger: Ledger,
  steps: readonly Step[],
  mutation: Mutation,
): Promise<void> {
  await expectHistoryKept(ledger, settings, steps);
  await expect(expectHistoryKept(ledger, settings, steps, mutation)).rejects.toMatchObject(noticedError);
}

export const workerHasRead = [beginOrResume(false), acquireNext(0, false), readNext(0)];
export const anotherWorkerReclaims = [expireLease(0), acquireNext(1, false)];
export const answerIsRecorded = settleSome(0, 1, {
  divide: false,
  retriesSpent: false,
  includeUnsent: false,
});

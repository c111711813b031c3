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

/** Checks that the model notices a broken rule, and fails only by its assertions. */

const noticedError = { name: 'AssertionError' };

/** @param seed whose first history breaks the rule; if it no longer does, other histories are tried */
export async function expectNoticed(ledger: Ledger, seed: number, mutation: Mutation): Promise<void> {
  const property = promisesProperty(ledger, mutation);
  const { failed, errorInstance } = await fc.check(property, { ...parameters, seed, numRuns: 200 });
  expect(failed, 'whether the property noticed anything').toBe(true);
  expect(errorInstance, 'what it noticed').toMatchObject(noticedError);
}

/** Of a run with one slice. */
const settings = {
  recipients: 6,
  maxAccountSlices: 4,
  maxRunSlices: 3,
  resends: 0,
  firstAlone: false,
  canarySlices: 0,
  lookUp: false,
  workersMayEnd: false,
  mayCancel: false,
};

/** For a rule that few histories break: this one passes with the rule and fails without it. */
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

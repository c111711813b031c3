import fc from 'fast-check';
import type { Ledger } from '../../../src/ledger/connection.ts';
import { finishRun } from './finish-run.ts';
import type { Settings } from './model.ts';
import type { Mutation } from './operations.ts';
import {
  beginOrResume,
  cancelStep,
  deliver,
  lookUp,
  pauseStep,
  promoteStep,
  resendByPolicy,
  resolveSome,
  suppress,
} from './operator-steps.ts';
import { claimRead, readNext, repeatChange, returnUnsent } from './range-steps.ts';
import { claimSome, releaseUnacknowledged, send } from './request-steps.ts';
import { retry, settleSome, settleTwice } from './settle-steps.ts';
import { acquireNext, endWorker, expireLease, finishOne, reclaimEnded, returnOne } from './slice-steps.ts';
import { commandOf, type Step } from './step.ts';
import { closeWorld, openWorld } from './world.ts';

const anyIndex = fc.nat(20);

const settleChoice = fc.record({
  divide: fc.boolean(),
  retriesSpent: fc.boolean(),
  includeUnsent: fc.nat(7).map((chance) => chance === 0),
});

const claimChoice = fc.record({
  limit: fc.integer({ min: 1, max: 3 }),
  acknowledged: fc.nat(9).map((chance) => chance > 0),
  evenIfNone: fc.nat(3).map((chance) => chance === 0),
});

const rangeClaims = fc.tuple(
  anyIndex,
  fc.integer({ min: 1, max: 3 }),
  fc.constantFrom(
    'not sent',
    'unacknowledged',
    'acknowledged',
    'acknowledged',
    'acknowledged',
    'acknowledged',
  ),
);

const exchanges = fc.tuple(
  anyIndex,
  fc.constantFrom('accepted', 'lost', 'lost', 'rejected', 'retry', 'retry', 'unauthorized'),
  fc.boolean(),
);
const settlements = fc.tuple(anyIndex, fc.integer({ min: 1, max: 3 }), settleChoice);
const finishes = fc.tuple(anyIndex, fc.boolean(), fc.nat(9));
const resolutions = fc.tuple(
  fc.array(anyIndex, { minLength: 1, maxLength: 4 }),
  fc.constantFrom('accepted', 'resend', 'resend', 'abandon'),
);
const reports = fc.tuple(anyIndex, anyIndex, fc.constantFrom('delivered', 'undelivered', 'pending'));

/** Steps with their weights. */
const steps: readonly (readonly [weight: number, step: fc.Arbitrary<Step>])[] = [
  [20, fc.nat(30).map((chance) => beginOrResume(chance === 0))],
  [15, anyIndex.map((at) => acquireNext(at, at === 0))],
  [30, fc.tuple(anyIndex, claimChoice).map(([at, choice]) => claimSome(at, choice))],
  [15, anyIndex.map(readNext)],
  [40, rangeClaims.map(([at, limit, passage]) => claimRead(at, limit, passage))],
  [6, anyIndex.map(repeatChange)],
  [4, anyIndex.map(returnUnsent)],
  [3, anyIndex.map(releaseUnacknowledged)],
  [60, exchanges.map(([at, answer, accepted]) => send(at, answer, accepted))],
  [20, anyIndex.map(retry)],
  [30, settlements.map(([at, count, choice]) => settleSome(at, count, choice))],
  [4, anyIndex.map(settleTwice)],
  [15, finishes.map(([at, interrupted, chance]) => finishOne(at, interrupted, chance === 0))],
  [1, anyIndex.map(returnOne)],
  [2, anyIndex.map(endWorker)],
  [4, fc.constant(reclaimEnded)],
  [3, anyIndex.map(expireLease)],
  [2, fc.constant(pauseStep)],
  [4, fc.constant(promoteStep)],
  [2, fc.constant(cancelStep)],
  [10, resolutions.map(([indexes, resolution]) => resolveSome(indexes, resolution))],
  [20, anyIndex.map(resendByPolicy)],
  [3, anyIndex.map(lookUp)],
  [6, reports.map(([at, recipient, outcome]) => deliver(at, recipient, outcome))],
  [3, fc.tuple(anyIndex, anyIndex).map(([at, recipient]) => suppress(at, recipient))],
];

/** Draws each step, and takes one. */
const command = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), ...steps.map(([, step]) => step))
  .map(([million, ...drawn]) =>
    commandOf(
      drawn.map((step, index) => ({ weight: steps[index]?.[0] ?? 0, step })),
      million / 1_000_000,
    ),
  );

const commands = fc.commands([command], { maxCommands: 80, size: 'max' });

const settings: fc.Arbitrary<Settings> = fc.record({
  recipients: fc.integer({ min: 1, max: 17 }),
  maxAccountSlices: fc.integer({ min: 1, max: 4 }),
  maxRunSlices: fc.integer({ min: 1, max: 3 }),
  firstAlone: fc.boolean(),
  canarySlices: fc.constantFrom(0, 0, 1, 2),
  lookUp: fc.boolean(),
  resends: fc.integer({ min: 0, max: 2 }),
  workersMayEnd: fc.boolean(),
  mayCancel: fc.nat(3).map((chance) => chance === 0),
});

/**
 * After any steps of workers, operators and the service, the ledger agrees with the model, keeps the rules of
 * docs/architecture.md, and can finish the run.
 */
export function promisesProperty(ledger: Ledger, mutation: Mutation = {}) {
  return fc.asyncProperty(settings, commands, async (chosen, wanted) => {
    const { model, world } = await openWorld(ledger, chosen, mutation);
    try {
      await fc.asyncModelRun(async () => ({ model, real: world }), wanted);
      await finishRun(model, world);
    } finally {
      await closeWorld(world);
    }
  });
}

/** @param steps each possible in its turn */
export async function expectHistoryKept(
  ledger: Ledger,
  chosen: Settings,
  steps: readonly Step[],
  mutation: Mutation = {},
): Promise<void> {
  const { model, world } = await openWorld(ledger, chosen, mutation);
  try {
    for (const step of steps) await commandOf([{ weight: 1, step }], 0).run(model, world);
    await finishRun(model, world);
  } finally {
    await closeWorld(world);
  }
}

/** Histories are long from the start and are not shrunk: each shrinking step would run one more. */
export const parameters = { unbiased: true, endOnFailure: true } as const;

/** @throws Error with the first history that breaks a promise */
export async function expectPromisesKept(ledger: Ledger, runs: number): Promise<void> {
  await fc.assert(promisesProperty(ledger), { ...parameters, numRuns: runs });
}

import fc from 'fast-check';
import type { Ledger } from '../../../src/ledger/connection.ts';
import { walkToTheEnd } from './end.ts';
import type { Settings } from './model.ts';
import type { Mutation } from './operations.ts';
import {
  beginOrResume,
  cancelIt,
  deliver,
  lookUp,
  pauseIt,
  resendByPolicy,
  resolveSome,
  suppress,
} from './operator-steps.ts';
import { claimRead, giveBackUnsent, readNext, repeatChange } from './range-steps.ts';
import { claimSome, send, takeBack } from './request-steps.ts';
import { retry, settleAgain, settleSome } from './settle-steps.ts';
import { acquireNext, die, expireLease, finishOne, reclaimDead, returnOne } from './slice-steps.ts';
import { commandOf, type Step } from './step.ts';
import { closeWorld, openWorld } from './world.ts';

const place = fc.nat(20);

const settleChoice = fc.record({
  divide: fc.boolean(),
  spent: fc.boolean(),
  unsent: fc.nat(7).map((chance) => chance === 0),
});

const claimChoice = fc.record({
  limit: fc.integer({ min: 1, max: 3 }),
  heard: fc.nat(9).map((chance) => chance > 0),
  idly: fc.nat(3).map((chance) => chance === 0),
});

const rangeClaims = fc.tuple(
  place,
  fc.integer({ min: 1, max: 3 }),
  fc.constantFrom('unasked', 'unheard', 'heard', 'heard', 'heard', 'heard'),
);

const exchanges = fc.tuple(
  place,
  fc.constantFrom('accepted', 'lost', 'lost', 'rejected', 'retry', 'retry', 'unauthorized'),
  fc.boolean(),
);
const settlements = fc.tuple(place, fc.integer({ min: 1, max: 3 }), settleChoice);
const finishes = fc.tuple(place, fc.boolean(), fc.nat(9));
const resolutions = fc.tuple(
  fc.array(place, { minLength: 1, maxLength: 4 }),
  fc.constantFrom('accepted', 'resend', 'resend', 'abandon'),
);
const reports = fc.tuple(place, place, fc.constantFrom('delivered', 'undelivered', 'pending'));

/** How often a step is tried, against the others. */
const steps: readonly (readonly [weight: number, step: fc.Arbitrary<Step>])[] = [
  [20, fc.nat(30).map((chance) => beginOrResume(chance === 0))],
  [15, place.map((at) => acquireNext(at, at === 0))],
  [30, fc.tuple(place, claimChoice).map(([at, choice]) => claimSome(at, choice))],
  [15, place.map(readNext)],
  [40, rangeClaims.map(([at, limit, passage]) => claimRead(at, limit, passage))],
  [6, place.map(repeatChange)],
  [4, place.map(giveBackUnsent)],
  [3, place.map(takeBack)],
  [60, exchanges.map(([at, answer, accepted]) => send(at, answer, accepted))],
  [20, place.map(retry)],
  [30, settlements.map(([at, count, choice]) => settleSome(at, count, choice))],
  [4, place.map(settleAgain)],
  [15, finishes.map(([at, interrupted, chance]) => finishOne(at, interrupted, chance === 0))],
  [1, place.map(returnOne)],
  [2, place.map(die)],
  [4, fc.constant(reclaimDead)],
  [3, place.map(expireLease)],
  [2, fc.constant(pauseIt)],
  [2, fc.constant(cancelIt)],
  [10, resolutions.map(([places, word]) => resolveSome(places, word))],
  [20, place.map(resendByPolicy)],
  [3, place.map(lookUp)],
  [6, reports.map(([at, recipient, outcome]) => deliver(at, recipient, outcome))],
  [3, fc.tuple(place, place).map(([at, recipient]) => suppress(at, recipient))],
];

/** One draw of each, of which one is taken. */
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
  canary: fc.boolean(),
  lookUp: fc.boolean(),
  resends: fc.integer({ min: 0, max: 2 }),
  deadly: fc.boolean(),
  cancellable: fc.nat(3).map((chance) => chance === 0),
});

/**
 * Whatever workers, operators and the service do, and in whatever order: the ledger is as the model says, and keeps what
 * design.md promises. When all is over, the run can be brought to its end.
 */
export function promisesAreKept(ledger: Ledger, mutation: Mutation = {}) {
  return fc.asyncProperty(settings, commands, async (chosen, wanted) => {
    const { model, world } = await openWorld(ledger, chosen, mutation);
    try {
      await fc.asyncModelRun(async () => ({ model, real: world }), wanted);
      await walkToTheEnd(model, world);
    } finally {
      await closeWorld(world);
    }
  });
}

/**
 * One history. As `promisesAreKept`, but for the chance.
 *
 * @param steps each possible when its turn comes
 */
export async function expectHistoryKept(
  ledger: Ledger,
  chosen: Settings,
  steps: readonly Step[],
  mutation: Mutation = {},
): Promise<void> {
  const { model, world } = await openWorld(ledger, chosen, mutation);
  try {
    for (const step of steps) await commandOf([{ weight: 1, step }], 0).run(model, world);
    await walkToTheEnd(model, world);
  } finally {
    await closeWorld(world);
  }
}

/** Histories are long from the first, and are not made shorter when one fails: each step of that would be one more. */
export const parameters = { unbiased: true, endOnFailure: true } as const;

/**
 * @param runs histories to try
 * @throws Error with the first that breaks a promise
 */
export async function expectPromisesKept(ledger: Ledger, runs: number): Promise<void> {
  await fc.assert(promisesAreKept(ledger), { ...parameters, numRuns: runs });
}

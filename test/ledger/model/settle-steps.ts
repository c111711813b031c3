import { expect } from 'vitest';
import type { Settlement } from '../../../src/ledger/requests/settle.ts';
import type { Flight, Model, Settled } from './model.ts';
import { countAcceptedTogether, divide, settle, startNextAttempt } from './predict-requests.ts';
import { inFlight } from './request-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** Steps of workers with answers. */

const answered = (model: Model, ...answers: readonly Flight['answer'][]) =>
  inFlight(model).filter(({ answer }) => answers.includes(answer));

export function retry(index: number): Step {
  return {
    name: `retry(${index})`,
    possible: (model) => answered(model, 'retry').length > 0,
    async run(model, world) {
      const flight = choose(answered(model, 'retry'), index);
      const { request, attempt, holding } = flight;
      const ended = { httpStatus: 503, detail: 'HTTP 503', finishedAt: new Date(), now: new Date() };
      const next = { run: world.run, owner: holding.owner, request, attempt, ...ended };
      const held = await world.operations.startNextAttempt(world.pool, next);
      expect(held, `whether request ${request} can be retried`).toBe(startNextAttempt(model, flight));
      if (!held) {
        model.flights.splice(model.flights.indexOf(flight), 1);
        return;
      }
      flight.attempt++;
      flight.answer = undefined;
    },
  };
}

function settledAs(answer: Flight['answer'], { divide: halves, retriesSpent }: SettleChoice): Settled {
  switch (answer) {
    case undefined:
      return { state: 'planned', verdict: 'released', httpStatus: null, divide: false };
    case 'accepted':
      return { state: 'accepted', verdict: 'accepted', httpStatus: 200, divide: false };
    case 'rejected':
      return { state: 'rejected', verdict: 'rejected', httpStatus: 400, divide: halves };
    case 'unauthorized':
      return { state: 'planned', verdict: 'unauthorized', httpStatus: 401, divide: false };
    case 'lost':
      return { state: 'in_doubt', verdict: 'in_doubt', httpStatus: null, divide: false };
    case 'retry':
      if (retriesSpent) return { state: 'failed', verdict: 'failed', httpStatus: 503, divide: false };
      return { state: 'planned', verdict: 'released', httpStatus: 503, divide: false };
  }
}

export type SettleChoice = {
  /** For rejected requests. */
  readonly divide: boolean;
  /** Otherwise the worker stops before the retry. */
  readonly retriesSpent: boolean;
  readonly includeUnsent: boolean;
};

const toSettle = (model: Model, { includeUnsent: released }: SettleChoice) =>
  inFlight(model).filter(({ answer }) => released || answer !== undefined);

export function settleSome(index: number, count: number, choice: SettleChoice): Step {
  return {
    name: `settle(${index}, ${count}, ${JSON.stringify(choice)})`,
    possible: (model) => toSettle(model, choice).length > 0,
    async run(model, world) {
      const all = toSettle(model, choice);
      const some = Array.from({ length: count }, (_, index) => choose(all, index + index));
      const each = some.filter(
        (flight, index) => some.findIndex(({ request }) => request === flight.request) === index,
      );
      for (const flight of each) flight.settled = settledAs(flight.answer, choice);
      await recordOutcomes(model, world, each);
    },
  };
}

/** Repeats a settlement whose answer was lost. */
export function settleTwice(index: number): Step {
  const settledFlights = ({ flights }: Model) => flights.filter(({ settled }) => settled !== undefined);
  return {
    name: `settleAgain(${index})`,
    possible: (model) => settledFlights(model).length > 0,
    run: (model, world) => recordOutcomes(model, world, [choose(settledFlights(model), index)]),
  };
}

export async function recordOutcomes(model: Model, world: World, flights: readonly Flight[]): Promise<void> {
  const settlements = flights.map((flight) => settlementOf(world, flight));
  const settled = await world.operations.settleRequests(world.ledger.hot, settlements);
  const expected = flights.map(
    (flight) => flight.settled !== undefined && settle(model, flight, flight.settled),
  );
  countAcceptedTogether(
    model,
    flights.flatMap(({ request }, index) => (expected[index] ? [request] : [])),
  );
  expect([...settled].toSorted(), 'what was settled').toEqual(
    expected.flatMap((is, index) => (is ? [index] : [])),
  );
  const rejected = flights.filter(({ settled: as }, index) => expected[index] && as?.divide);
  divide(
    model,
    rejected.map(({ request }) => request),
  );
}

function settlementOf({ run }: World, { holding, request, attempt, settled }: Flight): Settlement {
  if (!settled) throw new Error(`request ${request} is not settled`);
  const { state, verdict, httpStatus } = settled;
  const common = {
    run,
    slice: holding.slice,
    owner: holding.owner,
    request,
    attempt,
    httpStatus,
    finishedAt: new Date(),
    detail: 'words',
  };
  if (state === 'rejected') return { ...common, state, divide: settled.divide };
  if (state !== 'planned') return { ...common, state };
  return { ...common, state, verdict: verdict === 'unauthorized' ? 'unauthorized' : 'released' };
}

import { expect } from 'vitest';
import type { Settlement } from '../../../src/ledger/requests/settlement.ts';
import type { Flight, Model, Settled } from './model.ts';
import { divide, noteTogether, settle, startNextAttempt } from './predict-requests.ts';
import { underWay } from './request-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** What workers do with the answers to their requests. */

const answered = (model: Model, ...answers: readonly Flight['answer'][]) =>
  underWay(model).filter(({ answer }) => answers.includes(answer));

export function retry(place: number): Step {
  return {
    name: `retry(${place})`,
    possible: (model) => answered(model, 'retry').length > 0,
    async take(model, world) {
      const flight = choose(answered(model, 'retry'), place);
      const { request, attempt, holding } = flight;
      const ended = { httpStatus: 503, detail: 'HTTP 503', finishedAt: new Date(), now: new Date() };
      const next = { run: world.run, owner: holding.owner, request, attempt, ...ended };
      const held = await world.operations.startNextAttempt(world.pool, next);
      expect(held, `whether request ${request} may be sent again`).toBe(startNextAttempt(model, flight));
      if (!held) {
        model.flights.splice(model.flights.indexOf(flight), 1);
        return;
      }
      flight.attempt++;
      flight.answer = undefined;
    },
  };
}

/** What the engine makes of an answer. */
function settledAs(answer: Flight['answer'], { divide: halves, spent }: SettleChoice): Settled {
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
      if (spent) return { state: 'failed', verdict: 'failed', httpStatus: 503, divide: false };
      return { state: 'planned', verdict: 'released', httpStatus: 503, divide: false };
  }
}

export type SettleChoice = {
  /** Of rejected requests. */
  readonly divide: boolean;
  /** Whether a request that may be sent again has no attempt left; else its worker is to stop. */
  readonly spent: boolean;
  /** Also requests of which nothing has left: their worker is to stop. */
  readonly unsent: boolean;
};

const toSettle = (model: Model, { unsent: released }: SettleChoice) =>
  underWay(model).filter(({ answer }) => released || answer !== undefined);

export function settleSome(place: number, count: number, choice: SettleChoice): Step {
  return {
    name: `settle(${place}, ${count}, ${JSON.stringify(choice)})`,
    possible: (model) => toSettle(model, choice).length > 0,
    async take(model, world) {
      const all = toSettle(model, choice);
      const some = Array.from({ length: count }, (_, index) => choose(all, place + index));
      const each = some.filter(
        (flight, index) => some.findIndex(({ request }) => request === flight.request) === index,
      );
      for (const flight of each) flight.settled = settledAs(flight.answer, choice);
      await tell(model, world, each);
    },
  };
}

/** The same once more: the worker did not hear that it was recorded. */
export function settleAgain(place: number): Step {
  const told = ({ flights }: Model) => flights.filter(({ settled }) => settled !== undefined);
  return {
    name: `settleAgain(${place})`,
    possible: (model) => told(model).length > 0,
    take: (model, world) => tell(model, world, [choose(told(model), place)]),
  };
}

/** Records outcomes in one batch. */
export async function tell(model: Model, world: World, flights: readonly Flight[]): Promise<void> {
  const settlements = flights.map((flight) => settlementOf(world, flight));
  const settled = await world.operations.settleRequests(world.ledger.hot, settlements);
  const expected = flights.map(
    (flight) => flight.settled !== undefined && settle(model, flight, flight.settled),
  );
  noteTogether(
    model,
    flights.flatMap(({ request }, place) => (expected[place] ? [request] : [])),
  );
  expect([...settled].toSorted(), 'what was settled').toEqual(
    expected.flatMap((is, place) => (is ? [place] : [])),
  );
  const rejected = flights.filter(({ settled: as }, place) => expected[place] && as?.divide);
  divide(
    model,
    rejected.map(({ request }) => request),
  );
}

function settlementOf({ run }: World, { holding, request, attempt, settled }: Flight): Settlement {
  if (!settled) throw new Error(`request ${request} is not settled`);
  const { state, verdict, httpStatus } = settled;
  const common = {
    ...{ run, slice: holding.slice, owner: holding.owner, request, attempt, httpStatus },
    finishedAt: new Date(),
    detail: 'words',
  };
  if (state === 'rejected') return { ...common, state, divide: settled.divide };
  if (state !== 'planned') return { ...common, state };
  return { ...common, state, verdict: verdict === 'unauthorized' ? 'unauthorized' : 'released' };
}

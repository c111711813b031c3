import { expect } from 'vitest';
import type { Settlement } from '../../../src/ledger/requests/settlement.ts';
import { takeBackUnheard as takeBackInLedger } from '../../../src/ledger/requests/take-back.ts';
import {
  type Answer,
  type Flight,
  isHeldBy,
  type Model,
  requestNumbered,
  requestsIn,
  type Settled,
  sliceNumbered,
} from './model.ts';
import { claim, divide, sentTo, settle, startNextAttempt, takeBackUnheard } from './predict-requests.ts';
import { heldSlice, inHand } from './slice-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** What workers do with requests. */

export type ClaimChoice = {
  readonly limit: number;
  /** False: the answer of the ledger is lost, and the worker does not know what it has. */
  readonly heard: boolean;
  /** Also where there is nothing to claim. */
  readonly idly: boolean;
};

export function claimSome(place: number, { limit, heard, idly }: ClaimChoice): Step {
  const holders = (model: Model) =>
    inHand(model).filter(({ owner, slice: number }) => {
      const slice = sliceNumbered(model, number);
      return (
        number > 0 && (idly || (isHeldBy(slice, owner) && requestsIn(model, slice, 'planned').length > 0))
      );
    });
  return {
    name: `claim(${place}, ${limit}${heard ? '' : ', unheard'})`,
    possible: (model) => holders(model).length > 0,
    async take(model, world) {
      const holding = choose(holders(model), place);
      const slice = heldSlice(world, holding);
      const asked = { ...slice, from: slice.first, limit };
      const [given] = await world.operations.claimRequests(world.ledger.hot, [asked], new Date());
      const claimed = given?.claimed ?? [];
      const expected = claim(model, holding, limit);
      expect(
        claimed.map(({ request, attempt, destinations }) => {
          return { request, attempt, recipients: destinations.map(({ Recipient }) => Recipient) };
        }),
        'what is claimed',
      ).toEqual(
        expected.map((request) => {
          return { request: request.number, attempt: request.attempts.length, recipients: sentTo(request) };
        }),
      );
      if (!heard) return;
      for (const { request, attempt, messageId, destinations } of claimed) {
        const recipients = destinations.map(({ Recipient }) => Recipient);
        const flight = { holding, request, attempt, messageId, recipients };
        model.flights.push({ ...flight, answer: undefined, settled: undefined });
      }
    },
  };
}

const underWay = ({ flights }: Model) => flights.filter(({ settled }) => settled === undefined);

export function takeBack(place: number): Step {
  return {
    name: `takeBack(${place})`,
    possible: (model) => inHand(model).length > 0,
    async take(model, world) {
      const holding = choose(inHand(model), place);
      const known = underWay(model)
        .filter((flight) => flight.holding === holding)
        .map(({ request }) => request);
      const slice = heldSlice(world, holding);
      await takeBackInLedger(world.pool, slice, slice.owner, known, new Date());
      takeBackUnheard(model, holding, known);
    },
  };
}

const unsent = (model: Model) => underWay(model).filter(({ answer }) => answer === undefined);

/**
 * @param answer what the worker hears
 * @param accepted whether the service takes it, where the worker does not hear
 */
export function send(place: number, answer: Answer, accepted: boolean): Step {
  return {
    name: `send(${place}, ${answer}${answer === 'lost' ? `, ${accepted ? 'taken' : 'not taken'}` : ''})`,
    possible: (model) => unsent(model).length > 0,
    take: (model, world) => sendFlight(model, world, choose(unsent(model), place), answer, accepted),
  };
}

export async function sendFlight(
  model: Model,
  world: World,
  flight: Flight,
  answer: Answer,
  accepted: boolean,
): Promise<void> {
  await expectOnRecord(model, world, flight);
  const taken = answer === 'accepted' || (answer === 'lost' && accepted);
  world.service.receive(flight.messageId, flight.recipients, taken);
  await world.mutation.afterSending?.();
  flight.answer = answer;
}

/** Rule 1: seen from another session, at the moment at which the first byte leaves. */
async function expectOnRecord(model: Model, { pool, run }: World, flight: Flight): Promise<void> {
  const { request, attempt, holding } = flight;
  const { rows } = await pool.query(
    `SELECT q.state, q.owner, q.attempts, q.resends, a.owner AS attempt_owner, a.finished_at IS NULL AS under_way
     FROM requests q LEFT JOIN attempts a ON a.run_id = q.run_id AND a.request = q.request AND a.attempt = $3
     WHERE q.run_id = $1 AND q.request = $2`,
    [run, request, attempt],
  );
  const [row] = rows;
  expect(row?.attempt_owner, `rule 1: attempt ${attempt} of request ${request} is written`).toBe(
    holding.owner,
  );
  const { state, owner } = requestNumbered(model, request);
  if (state === 'sending' && owner === holding.owner) {
    const sending = { state, owner, attempts: attempt, under_way: true };
    expect(row, `rule 1: request ${request} is sending`).toMatchObject(sending);
  } else {
    // It stood still while others took its slice: what it sends now is known to be in doubt, and nobody else sends it.
    const unsafe = row?.state === 'planned' || row?.state === 'sending';
    expect(unsafe && row?.resends === 0, `rule 2: request ${request} is sent by two`).toBe(false);
  }
}

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

/** Requests that can be told from the model to be with a live owner, for the walk to the end. */
export function ownFlights(model: Model): readonly Flight[] {
  return underWay(model).filter(({ holding }) =>
    isHeldBy(sliceNumbered(model, holding.slice), holding.owner),
  );
}

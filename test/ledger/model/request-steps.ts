import { expect } from 'vitest';
import { releaseUnacknowledgedClaims as takeBackInLedger } from '../../../src/ledger/requests/release-claims.ts';
import { addressesOf } from '../../support/outgoing.ts';
import {
  type Answer,
  type Flight,
  isHeldBy,
  type Model,
  requestNumbered,
  requestsIn,
  sliceNumbered,
} from './model.ts';
import { claim, sentTo, takeBackUnanswered } from './predict-requests.ts';
import { inHand, sendersInHand, sendingSlice } from './slice-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** What workers do with requests, until they are answered. */

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
        slice.phase === 'sending' &&
        (idly || (isHeldBy(slice, owner) && requestsIn(model, slice, 'planned').length > 0))
      );
    });
  return {
    name: `claim(${place}, ${limit}${heard ? '' : ', unheard'})`,
    possible: (model) => holders(model).length > 0,
    async take(model, world) {
      const holding = choose(holders(model), place);
      const slice = sendingSlice(world, holding);
      const asked = { ...slice, from: slice.first, limit };
      const [given] = await world.operations.claimRequests(world.ledger.hot, [asked], new Date());
      const claimed = given?.claimed ?? [];
      const expected = claim(model, holding, limit);
      expect(
        claimed.map(({ request, attempt, destinations }) => {
          return { request, attempt, recipients: addressesOf(destinations) };
        }),
        'what is claimed',
      ).toEqual(
        expected.map((request) => {
          return { request: request.number, attempt: request.attempts.length, recipients: sentTo(request) };
        }),
      );
      if (!heard) return;
      for (const { request, attempt, messageId, destinations } of claimed) {
        const recipients = addressesOf(destinations);
        const flight = { holding, request, attempt, messageId, recipients };
        model.flights.push({ ...flight, answer: undefined, settled: undefined });
      }
    },
  };
}

/** What workers have not told the ledger the end of. */
export const underWay = ({ flights }: Model) => flights.filter(({ settled }) => settled === undefined);

export function takeBack(place: number): Step {
  return {
    name: `takeBack(${place})`,
    possible: (model) => sendersInHand(model).length > 0,
    async take(model, world) {
      const holding = choose(sendersInHand(model), place);
      const known = underWay(model)
        .filter((flight) => flight.holding === holding)
        .map(({ request }) => request);
      const slice = sendingSlice(world, holding);
      await takeBackInLedger(world.pool, slice, known, new Date());
      takeBackUnanswered(model, holding, known);
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
    `SELECT q.state, coalesce(own.owner, a.owner) AS owner, q.attempts, q.resends, a.owner AS attempt_owner,
            a.finished_at IS NULL AS under_way
     FROM requests_between($1, $2, $2) q
     LEFT JOIN attempts_between($1, $2, $2) a ON a.attempt = $3
     LEFT JOIN requests own ON own.run_id = q.run_id AND own.request = q.request`,
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

/** Those whose worker holds their slice. */
export function ownFlights(model: Model): readonly Flight[] {
  return underWay(model).filter(({ holding }) =>
    isHeldBy(sliceNumbered(model, holding.slice), holding.owner),
  );
}

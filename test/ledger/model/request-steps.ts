import { expect } from 'vitest';
import { releaseUnacknowledgedClaims as releaseInLedger } from '../../../src/ledger/requests/release.ts';
import { addressesOf } from '../../support/outgoing.ts';
import {
  type Answer,
  type Flight,
  findRequest,
  findSlice,
  isHeldBy,
  type Model,
  requestsIn,
} from './model.ts';
import { claim, predictRelease, sentTo } from './predict-requests.ts';
import { activeHoldings, sendingHoldings, sendingSlice } from './slice-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** Steps of workers with requests, up to their answers. */

export type ClaimChoice = {
  readonly limit: number;
  /** False: the answer of the ledger is lost. */
  readonly acknowledged: boolean;
  /** Also without anything to claim. */
  readonly evenIfNone: boolean;
};

export function claimSome(index: number, { limit, acknowledged, evenIfNone }: ClaimChoice): Step {
  const holders = (model: Model) =>
    activeHoldings(model).filter(({ owner, slice: number }) => {
      const slice = findSlice(model, number);
      return (
        slice.phase === 'sending' &&
        (evenIfNone || (isHeldBy(slice, owner) && requestsIn(model, slice, 'planned').length > 0))
      );
    });
  return {
    name: `claim(${index}, ${limit}${acknowledged ? '' : ', unacknowledged'})`,
    possible: (model) => holders(model).length > 0,
    async run(model, world) {
      const holding = choose(holders(model), index);
      const slice = sendingSlice(world, holding);
      const now = new Date();
      const asked = { ...slice, from: slice.first, limit };
      const [given] = await world.operations.claimRequests(world.ledger.hot, [asked], { now });
      const claimed = given?.claimed ?? [];
      const expected = claim(model, holding, limit, now);
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
      if (!acknowledged) return;
      for (const { request, attempt, messageId, destinations } of claimed) {
        const recipients = addressesOf(destinations);
        const flight = { holding, request, attempt, messageId, recipients };
        model.flights.push({ ...flight, answer: undefined, settled: undefined });
      }
    },
  };
}

/** Requests whose end the worker has not recorded. */
export const inFlight = ({ flights }: Model) => flights.filter(({ settled }) => settled === undefined);

export function releaseUnacknowledged(index: number): Step {
  return {
    name: `release(${index})`,
    possible: (model) => sendingHoldings(model).length > 0,
    async run(model, world) {
      const holding = choose(sendingHoldings(model), index);
      const known = inFlight(model)
        .filter((flight) => flight.holding === holding)
        .map(({ request }) => request);
      const slice = sendingSlice(world, holding);
      await releaseInLedger(world.pool, slice, known, new Date());
      predictRelease(model, holding, known);
    },
  };
}

const unsent = (model: Model) => inFlight(model).filter(({ answer }) => answer === undefined);

/**
 * @param answer that the worker gets
 * @param accepted whether the service accepts the request if its answer is lost
 */
export function send(index: number, answer: Answer, accepted: boolean): Step {
  return {
    name: `send(${index}, ${answer}${answer === 'lost' ? `, ${accepted ? 'accepted' : 'not accepted'}` : ''})`,
    possible: (model) => unsent(model).length > 0,
    run: (model, world) => sendFlight(model, world, choose(unsent(model), index), { answer, accepted }),
  };
}

export async function sendFlight(
  model: Model,
  world: World,
  flight: Flight,
  { answer, accepted }: { readonly answer: Answer; readonly accepted: boolean },
): Promise<void> {
  await expectOnRecord(model, world, flight);
  const isAccepted = answer === 'accepted' || (answer === 'lost' && accepted);
  world.service.receive(flight.messageId, flight.recipients, isAccepted);
  await world.mutation.afterSending?.();
  flight.answer = answer;
}

/** Rule 1, from another session at the moment at which the first byte is sent. */
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
  const { state, owner } = findRequest(model, request);
  if (state === 'sending' && owner === holding.owner) {
    const sending = { state, owner, attempts: attempt, under_way: true };
    expect(row, `rule 1: request ${request} is sending`).toMatchObject(sending);
  } else {
    // A paused process that lost its slice sends a request that is in doubt, which no other worker sends.
    const unsafe = row?.state === 'planned' || row?.state === 'sending';
    expect(unsafe && row?.resends === 0, `rule 2: request ${request} is sent by two`).toBe(false);
  }
}

export function flightsOfOwners(model: Model): readonly Flight[] {
  return inFlight(model).filter(({ holding }) => isHeldBy(findSlice(model, holding.slice), holding.owner));
}

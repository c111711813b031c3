import { expect } from 'vitest';
import { readContents } from '../../../src/ledger/requests/contents.ts';
import { addPlannedRows } from '../../../src/ledger/requests/rows.ts';
import { addressesOf } from '../../support/outgoing.ts';
import {
  type Flight,
  type Holding,
  isHeldBy,
  type Model,
  requestNumbered,
  type SliceChange,
  sliceNumbered,
} from './model.ts';
import { claimRange, readAhead } from './predict-requests.ts';
import { sendersInHand, sendingSlice } from './slice-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** What workers do with requests that have no rows, one statement at a time: anything may happen between two of them. */

/** Reads what comes after the last claim; it is claimed later, or never. */
export function readNext(place: number): Step {
  return {
    name: `read(${place})`,
    possible: (model) => sendersInHand(model).length > 0,
    async take(model, world) {
      const holding = choose(sendersInHand(model), place);
      const slice = sendingSlice(world, holding);
      const { claimedTo } = sliceNumbered(model, holding.slice);
      const contents = await readContents(world.ledger.hot, slice, claimedTo, null);
      await addPlannedRows(world.pool, slice, contents.suppressed);
      const expected = readAhead(model, holding);
      expect(
        contents.requests.map(({ request, destinations }) => [request, addressesOf(destinations)]),
        'what is read',
      ).toEqual(expected.map(({ number, addresses }) => [number, addresses]));
      const { requests, epoch: ledgerEpoch } = contents;
      if (requests.length > 0) holding.ahead = { requests, epoch: model.epoch, ledgerEpoch };
    },
  };
}

const readers = (model: Model) => sendersInHand(model).filter(({ ahead }) => ahead !== undefined);

/** What becomes of a claim: the ledger never gets it, the worker never gets the answer, or it does. */
export type Passage = 'unasked' | 'unheard' | 'heard';

/** Claims what was read, whatever has happened since. */
export function claimRead(place: number, limit: number, passage: Passage): Step {
  return {
    name: `claimRead(${place}, ${limit}, ${passage})`,
    possible: (model) => readers(model).length > 0,
    async take(model, world) {
      const holding = choose(readers(model), place);
      const slice = sliceNumbered(model, holding.slice);
      const { ahead } = holding;
      const next = ahead?.requests.filter(({ request }) => request > slice.claimedTo).slice(0, limit) ?? [];
      holding.ahead = undefined;
      const to = next.at(-1)?.request;
      if (to === undefined) return;
      holding.last = { version: slice.version + 1, at: new Date(), after: slice.claimedTo, to, ahead };
      if (passage !== 'unasked') await change(model, world, holding, holding.last, passage === 'heard');
    },
  };
}

const changers = (model: Model) => sendersInHand(model).filter(({ last }) => last !== undefined);

/** The same once more: the worker did not hear whether it was made. Other changes may have been made since. */
export function repeatChange(place: number): Step {
  return {
    name: `repeat(${place})`,
    possible: (model) => changers(model).length > 0,
    async take(model, world) {
      const holding = choose(changers(model), place);
      const { last } = holding;
      if (last) await change(model, world, holding, last, true);
    },
  };
}

/** Says that no byte has left of what comes after the last request that was sent; the worker sends nothing of it. */
export function giveBackUnsent(place: number): Step {
  const holders = (model: Model) =>
    sendersInHand(model).filter(({ owner, slice: number }) => {
      const slice = sliceNumbered(model, number);
      return isHeldBy(slice, owner) && begunTo(model, number) < slice.claimedTo;
    });
  return {
    name: `giveBack(${place})`,
    possible: (model) => holders(model).length > 0,
    async take(model, world) {
      const holding = choose(holders(model), place);
      const { version, claimedTo: after } = sliceNumbered(model, holding.slice);
      const to = begunTo(model, holding.slice);
      holding.last = { version: version + 1, at: new Date(), after, to, ahead: undefined };
      const unsent = model.flights.filter(
        (flight) => isWithoutRow(model, flight) && flight.request > (holding.last?.to ?? 0),
      );
      const own = unsent.filter((flight) => flight.holding === holding);
      for (const flight of own) model.flights.splice(model.flights.indexOf(flight), 1);
      await change(model, world, holding, holding.last, false);
    },
  };
}

const isWithoutRow = (model: Model, { request }: Flight) => !requestNumbered(model, request).hasRow;

/** The highest request of a slice that has no row, and of which a byte may have left. */
function begunTo(model: Model, number: number): number {
  const slice = sliceNumbered(model, number);
  const isBegun = (request: number): boolean =>
    requestNumbered(model, request).state === 'accepted' ||
    model.flights.some((flight) => flight.request === request && flight.answer !== undefined);
  const begun = model.requests.filter(
    ({ hasRow, number: request }) =>
      !hasRow && request >= slice.first && request <= slice.claimedTo && isBegun(request),
  );
  return begun.at(-1)?.number ?? slice.first - 1;
}

async function change(
  model: Model,
  world: World,
  holding: Holding,
  { version, at, after, to, ahead }: SliceChange,
  heard: boolean,
): Promise<void> {
  const { run, held, operations, ledger } = world;
  const { slice, owner } = holding;
  const claim = { after, to, epoch: ahead?.ledgerEpoch ?? '0' };
  const asked = { run, slice, owner, version, claim, accepted: [] };
  const [result] = await operations.advanceSlices(ledger.hot, [asked], at, null);
  const expected = claimRange(model, holding, version, to, ahead?.epoch ?? -1);
  expect(result, `what becomes of a claim to ${to} of slice ${slice}`).toBe(expected);
  if (!heard || expected !== 'granted' || !held.has(owner)) return;
  const known = new Set(model.flights.map(({ request }) => request));
  for (const { request, messageId, destinations } of ahead?.requests ?? []) {
    const { state, owner: sender, hasRow } = requestNumbered(model, request);
    const isClaimed = !hasRow && state === 'sending' && sender === owner && request <= to;
    if (!isClaimed || known.has(request)) continue;
    const recipients = addressesOf(destinations);
    const flight = { holding, request, attempt: 1, messageId, recipients };
    model.flights.push({ ...flight, answer: undefined, settled: undefined });
  }
}

import { expect } from 'vitest';
import { addPlannedRows } from '../../../src/ledger/requests/add-rows.ts';
import { readContents } from '../../../src/ledger/requests/read-contents.ts';
import { addressesOf } from '../../support/outgoing.ts';
import {
  type Flight,
  findRequest,
  findSlice,
  type Holding,
  isHeldBy,
  type Model,
  type SliceChange,
} from './model.ts';
import { claimRange, readAhead } from './predict-requests.ts';
import { sendingHoldings, sendingSlice } from './slice-steps.ts';
import { choose, type Step } from './step.ts';
import type { World } from './world.ts';

/** Steps of workers with requests without rows, one statement each: other steps can come between. */

/** Reads requests after the last claim. */
export function readNext(index: number): Step {
  return {
    name: `read(${index})`,
    possible: (model) => sendingHoldings(model).length > 0,
    async run(model, world) {
      const holding = choose(sendingHoldings(model), index);
      const slice = sendingSlice(world, holding);
      const { claimedTo } = findSlice(model, holding.slice);
      const contents = await readContents(world.ledger.hot, slice, claimedTo, null);
      await addPlannedRows(world.pool, slice, contents.suppressed);
      const expected = readAhead(model, holding);
      expect(
        contents.requests.map(({ request, destinations }) => [request, addressesOf(destinations)]),
        'what is read',
      ).toEqual(expected.map(({ number, addresses }) => [number, addresses]));
      const { requests, epoch: ledgerEpoch } = contents;
      if (requests.length > 0) holding.readAhead = { requests, epoch: model.epoch, ledgerEpoch };
    },
  };
}

const readersOf = (model: Model) => sendingHoldings(model).filter(({ readAhead }) => readAhead !== undefined);

/** Whether the claim reaches the ledger, and its answer the worker. */
export type ClaimAnswer = 'not sent' | 'unacknowledged' | 'acknowledged';

/** Even if the ledger has changed since. */
export function claimRead(index: number, limit: number, answer: ClaimAnswer): Step {
  return {
    name: `claimRead(${index}, ${limit}, ${answer})`,
    possible: (model) => readersOf(model).length > 0,
    async run(model, world) {
      const holding = choose(readersOf(model), index);
      const slice = findSlice(model, holding.slice);
      const { readAhead } = holding;
      const next =
        readAhead?.requests.filter(({ request }) => request > slice.claimedTo).slice(0, limit) ?? [];
      holding.readAhead = undefined;
      const to = next.at(-1)?.request;
      if (to === undefined) return;
      holding.last = { version: slice.version + 1, at: new Date(), after: slice.claimedTo, to, readAhead };
      if (answer !== 'not sent')
        await changeSlice(model, world, holding, {
          change: holding.last,
          acknowledged: answer === 'acknowledged',
        });
    },
  };
}

const changers = (model: Model) => sendingHoldings(model).filter(({ last }) => last !== undefined);

/** Its answer may have been lost, and other changes may follow it. */
export function repeatChange(index: number): Step {
  return {
    name: `repeat(${index})`,
    possible: (model) => changers(model).length > 0,
    async run(model, world) {
      const holding = choose(changers(model), index);
      const { last } = holding;
      if (last) await changeSlice(model, world, holding, { change: last, acknowledged: true });
    },
  };
}

/** Returns the claimed requests after the last one that was sent. */
export function returnUnsent(index: number): Step {
  const holders = (model: Model) =>
    sendingHoldings(model).filter(({ owner, slice: number }) => {
      const slice = findSlice(model, number);
      return isHeldBy(slice, owner) && lastStarted(model, number) < slice.claimedTo;
    });
  return {
    name: `giveBack(${index})`,
    possible: (model) => holders(model).length > 0,
    async run(model, world) {
      const holding = choose(holders(model), index);
      const { version, claimedTo: after } = findSlice(model, holding.slice);
      const to = lastStarted(model, holding.slice);
      holding.last = { version: version + 1, at: new Date(), after, to, readAhead: undefined };
      const unsent = model.flights.filter(
        (flight) => hasNoRow(model, flight) && flight.request > (holding.last?.to ?? 0),
      );
      const own = unsent.filter((flight) => flight.holding === holding);
      for (const flight of own) model.flights.splice(model.flights.indexOf(flight), 1);
      await changeSlice(model, world, holding, { change: holding.last, acknowledged: false });
    },
  };
}

const hasNoRow = (model: Model, { request }: Flight) => !findRequest(model, request).hasRow;

/** The highest request without a row that may have been sent. */
function lastStarted(model: Model, number: number): number {
  const slice = findSlice(model, number);
  const isBegun = (request: number): boolean =>
    findRequest(model, request).state === 'accepted' ||
    model.flights.some((flight) => flight.request === request && flight.answer !== undefined);
  const begun = model.requests.filter(
    ({ hasRow, number: request }) =>
      !hasRow && request >= slice.first && request <= slice.claimedTo && isBegun(request),
  );
  return begun.at(-1)?.number ?? slice.first - 1;
}

async function changeSlice(
  model: Model,
  world: World,
  holding: Holding,
  {
    change: { version, at, after, to, readAhead },
    acknowledged,
  }: { readonly change: SliceChange; readonly acknowledged: boolean },
): Promise<void> {
  const { run, held, operations, ledger } = world;
  const { slice, owner } = holding;
  const claim = { after, to, epoch: readAhead?.ledgerEpoch ?? '0' };
  const asked = { run, slice, owner, version, claim, accepted: [] };
  const [result] = await operations.advanceSlices(ledger.hot, [asked], at, null);
  const expected = claimRange(model, holding, { version, at, after, to }, readAhead?.epoch ?? -1);
  expect(result, `what becomes of a claim to ${to} of slice ${slice}`).toBe(expected);
  if (!acknowledged || expected !== 'granted' || !held.has(owner)) return;
  const known = new Set(model.flights.map(({ request }) => request));
  for (const { request, messageId, destinations } of readAhead?.requests ?? []) {
    const { state, owner: sender, hasRow } = findRequest(model, request);
    const isClaimed = !hasRow && state === 'sending' && sender === owner && request <= to;
    if (!isClaimed || known.has(request)) continue;
    const recipients = addressesOf(destinations);
    const flight = { holding, request, attempt: 1, messageId, recipients };
    model.flights.push({ ...flight, answer: undefined, settled: undefined });
  }
}

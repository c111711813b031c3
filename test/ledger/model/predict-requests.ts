import type { Resolution } from '../../../src/domain/runs.ts';
import type { AdvanceResult } from '../../../src/ledger/requests/advance.ts';
import {
  doubtsSlice,
  type Flight,
  findRequest,
  findSlice,
  type Holding,
  isHeldBy,
  type Model,
  type ModelRequest,
  type ModelSlice,
  plannedRequest,
  requestsIn,
  type Settled,
  type SliceChange,
  sliceOfRequest,
  waitingSlice,
} from './model.ts';

/** Predicts the states of requests. */

/** @returns the requests that the owner can send now, those without rows first */
export function claim(model: Model, holding: Holding, limit: number, at: Date): ModelRequest[] {
  const slice = findSlice(model, holding.slice);
  if (!isHeldBy(slice, holding.owner)) return [];
  const ordinary = claimWithoutRows(model, holding, limit, at);
  return [...ordinary, ...claimRows(model, holding, limit - ordinary.length)];
}

function claimWithoutRows(model: Model, holding: Holding, limit: number, at: Date): ModelRequest[] {
  const slice = findSlice(model, holding.slice);
  const found = readAhead(model, holding);
  const requests = found.slice(0, limit);
  const to = requests.length === found.length ? slice.last : (requests.at(-1)?.number ?? 0);
  if (to <= slice.claimedTo) return [];
  const change = { version: slice.version + 1, at, after: slice.claimedTo, to };
  return claimRange(model, holding, change, model.epoch) === 'granted' ? requests : [];
}

/** Requests with a suppressed recipient get a row if the slice is still held. */
export function readAhead(model: Model, { owner, slice: number }: Holding): ModelRequest[] {
  const slice = findSlice(model, number);
  const found = rowlessBetween(model, slice.claimedTo, slice.last);
  const isSuppressed = ({ addresses }: ModelRequest) =>
    addresses.some((address) => model.suppressed.has(address));
  for (const request of isHeldBy(slice, owner) ? found : []) {
    request.hasRow = request.state === 'planned' && isSuppressed(request);
  }
  return found.filter((request) => !isSuppressed(request));
}

/**
 * Claims a range, or returns the requests behind it, for the owner and on top of the last change only.
 *
 * @param epoch of the checked suppressions
 */
export function claimRange(
  model: Model,
  { owner, slice: number }: Pick<Holding, 'owner' | 'slice'>,
  { version, at, after, to }: Pick<SliceChange, 'version' | 'at' | 'after' | 'to'>,
  epoch: number,
): AdvanceResult {
  const slice = findSlice(model, number);
  if (!isHeldBy(slice, owner)) return 'lost';
  const isMade = slice.version === version;
  if (!isMade && slice.version !== version - 1) return 'lost';
  if (!isMade) {
    slice.version = version;
    if (to < slice.claimedTo) returnRange(model, slice, to);
    else if (model.run === 'running' && epoch === model.epoch) claimTo(model, slice, to, at);
  }
  const isClaimed = slice.claimedTo === to && (to < after || slice.claimedAt === at);
  return isClaimed ? 'granted' : 'refused';
}

function claimTo(model: Model, slice: ModelSlice, to: number, at: Date): void {
  const owner = slice.owner ?? '';
  for (const request of rowlessBetween(model, slice.claimedTo, to)) {
    request.state = 'sending';
    request.owner = owner;
    request.attempts.push({ owner, verdict: null, answered: false });
  }
  slice.claimedTo = to;
  slice.claimedAt = at;
}

/** They were never sent. In a cancelled run they are cancelled. */
function returnRange(model: Model, slice: ModelSlice, to: number): void {
  for (const request of rowlessBetween(model, to, slice.claimedTo)) {
    request.state = model.run === 'cancelled' ? 'cancelled' : 'planned';
    request.owner = null;
    request.attempts.length = 0;
  }
  slice.claimedTo = to;
}

function rowlessBetween(model: Model, after: number, to: number): ModelRequest[] {
  return model.requests.filter(({ hasRow, number }) => !hasRow && number > after && number <= to);
}

function claimRows(model: Model, { owner, slice: number }: Holding, limit: number): ModelRequest[] {
  const slice = findSlice(model, number);
  if (limit === 0 || model.run !== 'running') return [];
  slice.version++;
  const batch = requestsIn(model, slice, 'planned')
    .filter(({ hasRow }) => hasRow)
    .slice(0, limit);
  for (const request of batch) claimUnsuppressed(model, request, owner);
  return batch.filter(({ state }) => state === 'sending');
}

/** For a begun request that is not recorded as accepted. */
function addSendingRow(model: Model, request: ModelRequest, owner: string): void {
  const isSent = !request.hasRow && request.state === 'sending';
  if (isSent && isHeldBy(sliceOfRequest(model, request), owner)) request.hasRow = true;
}

function claimUnsuppressed({ suppressed }: Model, request: ModelRequest, owner: string): void {
  const unwanted = request.addresses.filter((address) => suppressed.has(address));
  const nobodyLeft =
    unwanted.length > 0 &&
    request.addresses.every(
      (address) => suppressed.has(address) || request.outcomes.get(address) === 'cancelled',
    );
  if (nobodyLeft) cancelRequest(request);
  if (request.state === 'cancelled' || request.attempts.length === 0) {
    for (const address of unwanted) {
      if (!request.outcomes.has(address)) request.outcomes.set(address, 'cancelled');
    }
  }
  if (nobodyLeft) return;
  request.state = 'sending';
  request.owner = owner;
  request.attempts.push({ owner, verdict: null, answered: false });
}

/** It is not sent. A resend returns to in doubt, because the resend proved nothing. */
function cancelRequest(request: ModelRequest): void {
  request.state = request.resends > 0 ? 'in_doubt' : 'cancelled';
}

/** For a cancelled run. */
export function cancelPlanned(model: Model, slice: ModelSlice): void {
  for (const request of requestsIn(model, slice, 'planned')) cancelRequest(request);
}

export function sentTo(request: ModelRequest): string[] {
  return request.addresses.filter((address) => request.outcomes.get(address) !== 'cancelled');
}

/** Rule 2: a request in flight without an owner is in doubt, unless a delivery report proves it. */
export function markInDoubt(model: Model, slice: ModelSlice): void {
  for (const request of requestsIn(model, slice, 'sending')) {
    request.hasRow = true;
    request.state = request.reported ? 'accepted' : 'in_doubt';
    request.owner = null;
    const attempt = request.attempts.at(-1);
    if (attempt && attempt.verdict === null) attempt.verdict = 'in_doubt';
  }
}

export function startNextAttempt(model: Model, { request: number, attempt, holding }: Flight): boolean {
  const request = findRequest(model, number);
  addSendingRow(model, request, holding.owner);
  if (!request.hasRow) return false;
  const ended = request.attempts[attempt - 1];
  if (ended && ended.verdict === null) {
    ended.verdict = 'retry';
    ended.answered = true;
  }
  if (request.state !== 'sending' || request.owner !== holding.owner) return false;
  request.attempts.push({ owner: holding.owner, verdict: null, answered: false });
  return true;
}

export function settle(
  model: Model,
  { request: number, attempt, holding }: Flight,
  settled: Settled,
): boolean {
  const request = findRequest(model, number);
  if (settled.state !== 'accepted') addSendingRow(model, request, holding.owner);
  if (!request.hasRow) return recordAccepted(model, request, holding.owner, settled);
  const ended = request.attempts[attempt - 1];
  const open = ended?.verdict === null || (ended?.verdict === 'in_doubt' && !ended.answered);
  if (ended && open && ended.owner === holding.owner) {
    ended.verdict = settled.verdict;
    ended.answered = settled.httpStatus !== null;
  }
  if (attempt !== request.attempts.length) return false;
  const isOwners = request.state === 'sending' && request.owner === holding.owner;
  const answered = settled.state === 'accepted' || settled.state === 'rejected';
  const late = request.state === 'in_doubt' && answered && ended?.owner === holding.owner;
  if (!isOwners && !late) return false;
  request.owner = null;
  request.state = settledState(request, settled.state);
  return true;
}

/** Acceptances recorded together change each slice once. */
export function countAcceptedTogether(model: Model, numbers: readonly number[]): void {
  const accepted = numbers.map((number) => findRequest(model, number)).filter(({ hasRow }) => !hasRow);
  for (const slice of new Set(accepted.map((request) => sliceOfRequest(model, request)))) slice.version++;
}

/** For a request without a row. */
function recordAccepted(
  model: Model,
  request: ModelRequest,
  owner: string,
  { state, verdict }: Settled,
): boolean {
  const slice = sliceOfRequest(model, request);
  if (state !== 'accepted' || request.state !== 'sending' || !isHeldBy(slice, owner)) return false;
  request.state = 'accepted';
  request.owner = null;
  for (const attempt of request.attempts) attempt.verdict = verdict;
  return true;
}

/** The last attempt proves nothing about an earlier one. */
function settledState({ resends, reported }: ModelRequest, settled: Settled['state']): ModelRequest['state'] {
  if (settled === 'accepted') return 'accepted';
  const mayBeAccepted = settled === 'in_doubt' || resends > 0;
  if (reported && (mayBeAccepted || settled === 'planned')) return 'accepted';
  return mayBeAccepted && settled !== 'planned' ? 'in_doubt' : settled;
}

/** Moves recipients of rejected requests to two new ones each, in a waiting slice, apart from those of the canary. */
export function divide(model: Model, numbers: readonly number[]): void {
  if (model.run !== 'planned' && model.run !== 'running' && model.run !== 'paused') return;
  const isCanary = (number: number): boolean => sliceOfRequest(model, findRequest(model, number)).isCanary;
  const halves = new Map<boolean, number[]>();
  for (const number of numbers.toSorted(
    (one, other) => Number(isCanary(one)) - Number(isCanary(other)) || one - other,
  )) {
    const request = findRequest(model, number);
    const outcomes = [...request.outcomes.values()];
    const left = sentTo(request);
    const whole = request.state !== 'rejected' || request.resends > 0 || left.length < 2;
    if (whole || outcomes.some((outcome) => outcome !== 'cancelled')) continue;
    request.addresses = request.addresses.filter((address) => request.outcomes.has(address));
    request.divided = true;
    const middle = Math.ceil(left.length / 2);
    for (const half of [left.slice(0, middle), left.slice(middle)]) {
      const added = model.requests.length + 1;
      model.requests.push({ ...plannedRequest(added, half), hasRow: true });
      halves.set(isCanary(number), [...(halves.get(isCanary(number)) ?? []), added]);
    }
  }
  for (const [ofCanary, added] of halves) {
    const number = Math.max(...model.slices.map((slice) => slice.number)) + 1;
    const slice = waitingSlice(number, Math.min(...added), Math.max(...added));
    model.slices.push({ ...slice, isCanary: ofCanary, claimedTo: slice.last });
  }
}

export function predictRelease(
  model: Model,
  { owner, slice: number }: Holding,
  known: readonly number[],
): void {
  const slice = findSlice(model, number);
  if (!isHeldBy(slice, owner)) return;
  slice.version++;
  for (const request of requestsIn(model, slice, 'sending')) {
    if (!request.hasRow || request.owner !== owner || known.includes(request.number)) continue;
    request.state = request.reported ? 'accepted' : 'planned';
    request.owner = null;
    const attempt = request.attempts.at(-1);
    if (attempt) attempt.verdict = 'released';
  }
}

export function report(
  request: ModelRequest,
  address: string,
  outcome: 'delivered' | 'undelivered' | 'pending',
) {
  if (outcome !== 'pending' && !request.outcomes.has(address)) request.outcomes.set(address, outcome);
  if (request.state === 'sending') request.reported = true;
  if (request.state !== 'in_doubt' && (request.state !== 'planned' || request.resends === 0)) return;
  request.reported = true;
  request.state = 'accepted';
}

/** @returns those that were in doubt */
export function resolve(model: Model, numbers: readonly number[], resolution: Resolution): number[] {
  if (resolution === 'resend' && model.run === 'cancelled') return [];
  const resolved = model.requests.filter(
    ({ number, state }) => state === 'in_doubt' && numbers.includes(number),
  );
  for (const request of resolved) {
    request.state = ({ accepted: 'accepted', resend: 'planned', abandon: 'abandoned' } as const)[resolution];
    if (resolution === 'accepted') request.resolvedAsAccepted = true;
    if (resolution === 'resend') markResent(model, request);
  }
  if (resolution === 'resend' && resolved.length > 0 && model.run === 'completed') model.run = 'paused';
  return resolved.map(({ number }) => number);
}

/** @returns how many */
export function resendDoubts(model: Model, { owner }: Holding): number {
  if (!isHeldBy(doubtsSlice(model), owner) || model.run !== 'running') return 0;
  const again = model.requests.filter(
    ({ state, resends }) => state === 'in_doubt' && resends < model.settings.resends,
  );
  for (const request of again) markResent(model, request);
  return again.length;
}

function markResent(model: Model, request: ModelRequest): void {
  request.state = 'planned';
  request.resends++;
  for (const slice of model.slices) {
    const within = request.number >= slice.first && request.number <= slice.last;
    if (within && slice.state === 'done') slice.state = 'waiting';
  }
}

import type { RequestState, RunPhase, RunState } from '../../../src/domain/runs.ts';
import type { OrdinaryRequest } from '../../../src/ledger/requests/read-contents.ts';

/**
 * A run as design.md, "States", says that it must be: what the ledger is held against after every step, and what the
 * workers have in their own memory, which dies with them.
 */
export type Model = {
  run: RunState;
  readonly settings: Settings;
  readonly requests: ModelRequest[];
  readonly slices: ModelSlice[];
  /** Jobs in the queue whose slice has been given up by a holder who was late. */
  staleJobs: number;
  readonly suppressed: Set<string>;
  /** How often something was suppressed. */
  epoch: number;
  /** Workers that live, in the order in which they began. */
  readonly workers: string[];
  readonly holdings: Holding[];
  readonly flights: Flight[];
};

export type Settings = {
  readonly recipients: number;
  readonly maxAccountSlices: number;
  readonly maxRunSlices: number;
  readonly canary: boolean;
  readonly lookUp: boolean;
  /** How often the campaign's policy sends a request in doubt again. */
  readonly resends: number;
  /** Whether it may occur to somebody to cancel it: after that, there is little to be seen. */
  readonly mayCancel: boolean;
  /** Whether workers die. */
  readonly workersMayEnd: boolean;
};

export type RecipientOutcome = 'delivered' | 'undelivered' | 'cancelled';

export type ModelRequest = {
  readonly number: number;
  state: RequestState;
  /** Whether it has a row of its own; else its slice says what it is. */
  hasRow: boolean;
  owner: string | null;
  resends: number;
  /** A delivery report has come while it was not settled. */
  reported: boolean;
  /** It came while the request had no row. */
  reportedEarly: boolean;
  /** Its recipients are in two others. */
  divided: boolean;
  /** An operator took it as accepted. */
  resolvedAsAccepted: boolean;
  addresses: readonly string[];
  /** What is known of a recipient alone, by address. */
  readonly outcomes: Map<string, RecipientOutcome>;
  readonly attempts: ModelAttempt[];
};

/** `answered`: the status of an answer is kept with it. */
export type ModelAttempt = { readonly owner: string; verdict: string | null; answered: boolean };

/** The one of settling doubts has no requests. */
export type ModelSlice = {
  readonly number: number;
  readonly phase: RunPhase;
  readonly first: number;
  readonly last: number;
  state: 'waiting' | 'queued' | 'held' | 'done';
  owner: string | null;
  worker: string | null;
  /** Requests up to this one may be in flight, as far as they have no rows. */
  claimedTo: number;
  /** How often its holders have changed what is claimed or accepted of it. */
  version: number;
  /** Its lease has expired, and the queue offers it to others. */
  expired: boolean;
};

/** A slice in the hands of a worker, or so the worker thinks. */
export type Holding = {
  readonly owner: string;
  readonly worker: string;
  readonly slice: number;
  /** The worker has given it up. */
  isReleased: boolean;
  /** What it has read, and not claimed. */
  readAhead: ReadAhead | undefined;
  /** The last change of the slice that it has asked for by itself. */
  last: SliceChange | undefined;
};

/** Requests without rows that a worker has read, and the suppressions that were looked at: in the model, and in the ledger. */
export type ReadAhead = {
  readonly requests: readonly OrdinaryRequest[];
  readonly epoch: number;
  readonly ledgerEpoch: string;
};

/** A claim of a range; `version` is that of the slice when it has been made. */
export type SliceChange = {
  readonly version: number;
  readonly at: Date;
  readonly after: number;
  readonly to: number;
  readonly readAhead: ReadAhead | undefined;
};

/** What an exchange came to, as far as the worker knows. */
export type Answer = 'accepted' | 'rejected' | 'retry' | 'unauthorized' | 'lost';

/** A request that a worker has claimed and knows of. */
export type Flight = {
  readonly holding: Holding;
  readonly request: number;
  readonly messageId: string;
  readonly recipients: readonly string[];
  attempt: number;
  /** Undefined as long as nothing of this attempt has left. */
  answer: Answer | undefined;
  /** What was told to the ledger. */
  settled: Settled | undefined;
};

export type Settled = {
  readonly state: 'accepted' | 'rejected' | 'failed' | 'in_doubt' | 'planned';
  readonly verdict: string;
  readonly httpStatus: number | null;
  readonly divide: boolean;
};

export function createModel(
  settings: Settings,
  requests: readonly (readonly string[])[],
  requestsInSlice: number,
): Model {
  const slices: ModelSlice[] = [];
  for (let first = 1; first <= requests.length; first += requestsInSlice) {
    slices.push(
      waitingSlice(slices.length + 1, first, Math.min(requests.length, first + requestsInSlice - 1)),
    );
  }
  slices.push({ ...waitingSlice(slices.length + 1, 1, 0), phase: 'settling doubts' });
  return {
    run: 'planned',
    settings,
    requests: requests.map((addresses, index) => plannedRequest(index + 1, addresses)),
    slices,
    staleJobs: 0,
    suppressed: new Set(),
    epoch: 0,
    workers: [],
    holdings: [],
    flights: [],
  };
}

export function waitingSlice(number: number, first: number, last: number): ModelSlice {
  const unheld = { owner: null, worker: null, expired: false };
  return {
    number,
    phase: 'sending',
    first,
    last,
    state: 'waiting',
    ...unheld,
    claimedTo: first - 1,
    version: 0,
  };
}

export function plannedRequest(number: number, addresses: readonly string[]): ModelRequest {
  return {
    number,
    state: 'planned',
    hasRow: false,
    owner: null,
    resends: 0,
    reported: false,
    reportedEarly: false,
    divided: false,
    resolvedAsAccepted: false,
    addresses,
    outcomes: new Map(),
    attempts: [],
  };
}

export function findRequest(model: Model, number: number): ModelRequest {
  const request = model.requests.find((candidate) => candidate.number === number);
  if (!request) throw new Error(`the model has no request ${number}`);
  return request;
}

export function findSlice(model: Model, number: number): ModelSlice {
  const slice = model.slices.find((candidate) => candidate.number === number);
  if (!slice) throw new Error(`the model has no slice ${number}`);
  return slice;
}

export function doubtsSlice(model: Model): ModelSlice {
  const slice = model.slices.find(({ phase }) => phase === 'settling doubts');
  if (!slice) throw new Error('the model has no phase of settling doubts');
  return slice;
}

/** The slice that a request is in. */
export function sliceOfRequest(model: Model, { number }: ModelRequest): ModelSlice {
  const slice = model.slices.find((each) => each.first <= number && number <= each.last);
  if (!slice) throw new Error(`the model has no slice of request ${number}`);
  return slice;
}

export function isHeldBy(slice: ModelSlice, owner: string): boolean {
  return slice.state === 'held' && slice.owner === owner;
}

/** The requests in a slice that are in a state. */
export function requestsIn(model: Model, slice: ModelSlice, state: RequestState): ModelRequest[] {
  return model.requests.filter(
    ({ number, state: is }) => is === state && number >= slice.first && number <= slice.last,
  );
}

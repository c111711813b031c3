import type { RequestState, RunPhase, RunState } from '../../../src/domain/runs.ts';
import type { OrdinaryRequest } from '../../../src/ledger/requests/read-contents.ts';

/** The state that docs/architecture.md, "States", requires of a run, and what the workers keep in memory. */
export type Model = {
  run: RunState;
  readonly settings: Settings;
  readonly requests: ModelRequest[];
  readonly slices: ModelSlice[];
  /** Queued jobs whose slice was finished by a former owner. */
  staleJobs: number;
  readonly suppressed: Set<string>;
  /** How often an address was suppressed. */
  epoch: number;
  readonly workers: string[];
  readonly holdings: Holding[];
  readonly flights: Flight[];
};

export type Settings = {
  readonly recipients: number;
  readonly maxAccountSlices: number;
  readonly maxRunSlices: number;
  readonly firstAlone: boolean;
  /** The slices of the canary; the others wait until the run is promoted. 0: there is none. */
  readonly canarySlices: number;
  readonly lookUp: boolean;
  /** The limit of the campaign's policy. */
  readonly resends: number;
  /** Cancelled runs leave little to observe. */
  readonly mayCancel: boolean;
  readonly workersMayEnd: boolean;
};

export type RecipientOutcome = 'delivered' | 'undelivered' | 'cancelled';

export type ModelRequest = {
  readonly number: number;
  state: RequestState;
  /** Otherwise its slice defines its state. */
  hasRow: boolean;
  owner: string | null;
  resends: number;
  /** A delivery report came before it was settled. */
  reported: boolean;
  /** Its recipients moved to two new requests. */
  divided: boolean;
  resolvedAsAccepted: boolean;
  addresses: readonly string[];
  /** By address. */
  readonly outcomes: Map<string, RecipientOutcome>;
  readonly attempts: ModelAttempt[];
};

/** `answered`: the attempt has the status of an answer. */
export type ModelAttempt = { readonly owner: string; verdict: string | null; answered: boolean };

/** The slice that settles doubts has no requests. */
export type ModelSlice = {
  readonly number: number;
  readonly phase: RunPhase;
  readonly first: number;
  readonly last: number;
  readonly isCanary: boolean;
  state: 'unpromoted' | 'waiting' | 'queued' | 'held' | 'done';
  owner: string | null;
  worker: string | null;
  /** As in the ledger. */
  claimedTo: number;
  /** When it was last claimed; a repeated claim is recognised by it. */
  claimedAt: Date | undefined;
  /** As in the ledger. */
  version: number;
  /** Its lease has expired. */
  expired: boolean;
};

/** A slice that a worker holds, or believes to hold. */
export type Holding = {
  readonly owner: string;
  readonly worker: string;
  readonly slice: number;
  isReleased: boolean;
  /** Read and not claimed. */
  readAhead: ReadAhead | undefined;
  /** The last change that the worker requested. */
  last: SliceChange | undefined;
};

/** Requests without rows, and the suppressions that were checked. */
export type ReadAhead = {
  readonly requests: readonly OrdinaryRequest[];
  readonly epoch: number;
  readonly ledgerEpoch: string;
};

/** `version`: that of the slice after the change. */
export type SliceChange = {
  readonly version: number;
  readonly at: Date;
  readonly after: number;
  readonly to: number;
  readonly readAhead: ReadAhead | undefined;
};

/** As the worker knows it. */
export type Answer = 'accepted' | 'rejected' | 'retry' | 'unauthorized' | 'lost';

/** A claimed request that the worker knows of. */
export type Flight = {
  readonly holding: Holding;
  readonly request: number;
  readonly messageId: string;
  readonly recipients: readonly string[];
  attempt: number;
  /** Undefined until the attempt is sent. */
  answer: Answer | undefined;
  /** What the worker recorded in the ledger. */
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
  const { canarySlices } = settings;
  const parts = slices.map((slice, index): ModelSlice => {
    if (canarySlices === 0) return slice;
    return index < canarySlices ? { ...slice, isCanary: true } : { ...slice, state: 'unpromoted' };
  });
  parts.push({ ...waitingSlice(parts.length + 1, 1, 0), phase: 'settling doubts' });
  return {
    run: 'planned',
    settings,
    requests: requests.map((addresses, index) => plannedRequest(index + 1, addresses)),
    slices: parts,
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
    isCanary: false,
    state: 'waiting',
    ...unheld,
    claimedTo: first - 1,
    claimedAt: undefined,
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

export function sliceOfRequest(model: Model, { number }: ModelRequest): ModelSlice {
  const slice = model.slices.find((each) => each.first <= number && number <= each.last);
  if (!slice) throw new Error(`the model has no slice of request ${number}`);
  return slice;
}

export function isHeldBy(slice: ModelSlice, owner: string): boolean {
  return slice.state === 'held' && slice.owner === owner;
}

export function requestsIn(model: Model, slice: ModelSlice, state: RequestState): ModelRequest[] {
  return model.requests.filter(
    ({ number, state: is }) => is === state && number >= slice.first && number <= slice.last,
  );
}

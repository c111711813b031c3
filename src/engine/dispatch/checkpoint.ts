import type { Ledger } from '../../ledger/connection.ts';
import type { AcceptedRequest, Advance, AdvanceResult, RangeClaim } from '../../ledger/requests/advance.ts';
import { type Settlement, settleRequests } from '../../ledger/requests/settle.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import { coalesce } from '../coalesce.ts';
import { trace } from '../trace-points.ts';
import type { OutageRetry } from './outage-retry.ts';
import { createWakeup } from './wakeup.ts';

/*
 * A checkpoint is one commit for all slices of a process. This file has the part of one slice: what is to be committed, and what
 * follows from the result. `checkpointer.ts` commits.
 */

export type AcceptedAttempt = AcceptedRequest & Settlement & { readonly messageId: string };

export type CheckpointOptions = {
  readonly onAccepted: (accepted: AcceptedAttempt) => void;
  /** The ledger failed, other than by an outage. */
  readonly onFailed: (error: unknown) => void;
  /** Records requests that were accepted after the slice was reclaimed. */
  readonly record: Recorder;
};

type PendingClaim = RangeClaim & PromiseWithResolvers<boolean>;

type SliceAdvance = Advance & {
  readonly claim: PendingClaim | undefined;
  readonly accepted: readonly AcceptedAttempt[];
};

/** What the checkpointer keeps of a slice. */
export type CheckpointState = {
  readonly slice: SendingSlice;
  readonly options: CheckpointOptions;
  version: number;
  accepted: AcceptedAttempt[];
  /** Accepted and not committed. */
  unrecorded: number;
  readonly allRecorded: ReturnType<typeof createWakeup>;
  /** Why nothing more is committed: the last commit may have failed. */
  failure: { readonly error: unknown } | undefined;
  claim: PendingClaim | undefined;
  flushRequested: boolean;
};

export function createCheckpointState(slice: SendingSlice, options: CheckpointOptions): CheckpointState {
  return {
    slice,
    options,
    version: slice.version,
    accepted: [],
    unrecorded: 0,
    failure: undefined,
    allRecorded: createWakeup(),
    claim: undefined,
    flushRequested: false,
  };
}

export function extractAdvance(state: CheckpointState): SliceAdvance {
  const { slice, accepted, claim } = state;
  state.accepted = [];
  const { run, slice: number, owner } = slice;
  return { run, slice: number, owner, version: state.version + 1, claim, accepted };
}

export function completeAdvance(
  state: CheckpointState,
  { version, claim, accepted }: SliceAdvance,
  result: AdvanceResult,
): void {
  if (result === 'lost') for (const each of accepted) void settleLate(state, each);
  else {
    state.version = version;
    for (const each of accepted) markRecorded(state, each);
  }
  if (!claim || state.claim !== claim) return;
  state.claim = undefined;
  state.flushRequested = false;
  claim.resolve(result === 'granted');
}

export function failCheckpoint(state: CheckpointState, error: unknown): void {
  state.failure ??= { error };
  state.claim?.reject(error);
  state.claim = undefined;
  state.allRecorded.signal();
  state.options.onFailed(error);
}

export function addAccepted(state: CheckpointState, accepted: AcceptedAttempt): void {
  state.accepted.push(accepted);
  changeUnrecorded(state, 1);
}

function markRecorded(state: CheckpointState, accepted: AcceptedAttempt): void {
  trace('recorded', state.slice.run, accepted.request);
  changeUnrecorded(state, -1);
  state.options.onAccepted(accepted);
}

/** Settles a request that became in doubt when its slice was reclaimed. */
async function settleLate(state: CheckpointState, accepted: AcceptedAttempt): Promise<void> {
  await state.options.record(accepted).catch(state.options.onFailed);
  changeUnrecorded(state, -1);
}

function changeUnrecorded(state: CheckpointState, change: number): void {
  state.unrecorded += change;
  if (state.unrecorded === 0) state.allRecorded.signal();
}

/** Returns when the settlement is committed; false if another worker owned the request. */
export type Recorder = (settlement: Settlement) => Promise<boolean>;

export function createRecorder(pool: Ledger['hot'], { retry }: OutageRetry): Recorder {
  async function commit(settlements: readonly Settlement[]): Promise<boolean[]> {
    let attempts = 0;
    for (const { run, request } of settlements) trace('recording', run, request);
    const settled = await retry(() => {
      attempts++;
      return settleRequests(pool, settlements);
    });
    for (const { run, request } of settlements) trace('recorded', run, request);
    // An earlier attempt may have committed it although its answer was lost.
    return settlements.map((_, index) => settled.has(index) || attempts > 1);
  }

  return coalesce(commit, { maxBatch: 64, busyThreshold: 16 });
}

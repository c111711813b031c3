import type { AcceptedRequest, Advance, AdvanceResult, RangeClaim } from '../../ledger/requests/advance.ts';
import type { Settlement } from '../../ledger/requests/settle.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import { trace } from '../trace-points.ts';
import type { Recorder } from './recorder.ts';
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

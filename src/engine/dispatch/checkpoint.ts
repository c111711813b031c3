import type { AcceptedRequest, RangeClaim } from '../../ledger/requests/advance.ts';
import type { ClaimedRows, RowsClaim } from '../../ledger/requests/claim-rows.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { Recorder } from './recorder.ts';

export type AcceptedAttempt = AcceptedRequest & { readonly messageId: string };

/** What the owner of a slice writes of it: claims, and which requests were accepted. */
export type SliceCheckpoint = {
  /**
   * Waits a moment for claims of other slices, unless it is hurried.
   *
   * @returns false where it was refused: the run is not running, or something has to be read again
   */
  readonly claim: (claim: RangeClaim) => Promise<boolean>;
  /** Commits a claim that waits for others at once; the next claim, where none waits. */
  readonly flush: () => void;
  /** Says that no byte has left of requests after `to`, which were claimed. */
  readonly returnClaim: (back: Omit<RangeClaim, 'epoch'>) => Promise<void>;
  /** @param known requests that were claimed, and whose outcome is not recorded yet */
  readonly claimRows: (
    claim: Pick<RowsClaim, 'from' | 'limit'>,
    known: readonly number[],
  ) => Promise<ClaimedRows>;
  /** Is committed soon, together with others. */
  readonly accept: (accepted: AcceptedAttempt) => void;
  /** How many were accepted, and are not committed. */
  readonly unrecorded: () => number;
  readonly whenRecorded: () => Promise<void>;
};

export type CheckpointOptions = {
  readonly onAccepted: (accepted: AcceptedAttempt) => void;
  /** The ledger failed otherwise than by being away: nothing more of the slice is committed. */
  readonly onFailed: (error: unknown) => void;
  /** For what was accepted while another worker took the slice over: it is in doubt there. */
  readonly recorder: Recorder;
};

export type Checkpointer = {
  readonly open: (slice: SendingSlice, options: CheckpointOptions) => SliceCheckpoint;
};

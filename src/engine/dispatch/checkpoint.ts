import type { AcceptedRequest, RangeClaim } from '../../ledger/requests/advance.ts';
import type { ClaimedRows, RowsClaim } from '../../ledger/requests/claim-rows.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { Recorder } from './recorder.ts';

export type AcceptedAttempt = AcceptedRequest & { readonly messageId: string };

/** What the owner of a slice writes: claims and accepted requests. */
export type SliceCheckpoint = {
  /**
   * Waits a moment for claims of other slices, until `flush` is called.
   *
   * @returns false if refused: the run is not running, or what was read ahead is stale
   */
  readonly claim: (claim: RangeClaim) => Promise<boolean>;
  /** Commits the waiting claim at once, or else the next one. */
  readonly flush: () => void;
  /** Returns claimed requests after `to`, of which no byte has left. */
  readonly returnClaim: (back: Omit<RangeClaim, 'epoch'>) => Promise<void>;
  /** @param known claimed requests whose outcome is not recorded yet */
  readonly claimRows: (
    claim: Pick<RowsClaim, 'from' | 'limit'>,
    known: readonly number[],
  ) => Promise<ClaimedRows>;
  /** Committed soon, together with others. */
  readonly accept: (accepted: AcceptedAttempt) => void;
  /** How many were accepted and are not committed. */
  readonly unrecorded: () => number;
  readonly whenRecorded: () => Promise<void>;
};

export type CheckpointOptions = {
  readonly onAccepted: (accepted: AcceptedAttempt) => void;
  /** The ledger failed, other than by an outage. Nothing more of the slice is committed. */
  readonly onFailed: (error: unknown) => void;
  /** Records requests that were accepted after another worker reclaimed the slice, where they are in doubt. */
  readonly recorder: Recorder;
};

export type Checkpointer = {
  readonly open: (slice: SendingSlice, options: CheckpointOptions) => SliceCheckpoint;
};

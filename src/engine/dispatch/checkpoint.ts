import type { AcceptedRequest, RangeClaim } from '../../ledger/requests/advance.ts';
import type { ClaimedRows, RowsClaim } from '../../ledger/requests/claim-rows.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { Recorder } from './recorder.ts';

export type AcceptedAttempt = AcceptedRequest & { readonly messageId: string };

export type SliceCheckpoint = {
  /**
   * Waits a moment for claims of other slices.
   *
   * @returns false if refused: the run is not running, or what was read is stale
   */
  readonly claim: (claim: RangeClaim) => Promise<boolean>;
  /** Commits the waiting or next claim at once. */
  readonly flush: () => void;
  /** Returns requests after `to`, of which no byte has left. */
  readonly returnClaim: (back: Omit<RangeClaim, 'epoch'>) => Promise<void>;
  /** @param known claimed requests without a recorded outcome */
  readonly claimRows: (
    claim: Pick<RowsClaim, 'from' | 'limit'>,
    known: readonly number[],
  ) => Promise<ClaimedRows>;
  readonly accept: (accepted: AcceptedAttempt) => void;
  /** Accepted and not committed. */
  readonly unrecorded: () => number;
  readonly whenRecorded: () => Promise<void>;
};

export type CheckpointOptions = {
  readonly onAccepted: (accepted: AcceptedAttempt) => void;
  /** The ledger failed, other than by an outage. */
  readonly onFailed: (error: unknown) => void;
  /** Records requests that were accepted after the slice was reclaimed. */
  readonly recorder: Recorder;
};

export type Checkpointer = {
  readonly open: (slice: SendingSlice, options: CheckpointOptions) => SliceCheckpoint;
};

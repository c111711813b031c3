import type { WithheldCause } from '../../domain/reasons.ts';
import type { ClaimedRequest } from '../../ledger/requests/claimed-request.ts';
import type { SettledState, Settlement } from '../../ledger/requests/settlement.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { EngineContext } from '../context.ts';
import type { PreparedRequest, Sender } from './attempt-once.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { Recorder } from './recorder.ts';

/** Where the requests of a slice come from, and where it is noted what becomes of them. */
export type RequestSource = {
  /**
   * @param max no more than so many are wanted
   * @returns how many there are to claim; 0 at the end
   */
  readonly available: (max: number, stop: AbortSignal) => Promise<number>;
  /** @returns those that were claimed; none where none may be claimed now */
  readonly claim: (limit: number, stop: AbortSignal) => Promise<readonly ClaimedRequest[]>;
  /** @returns undefined when another owner has settled it meanwhile */
  readonly send: (sender: Sender, prepared: PreparedRequest) => Promise<Settlement | undefined>;
  /** Gives back claimed requests of which no byte will leave. */
  readonly release: (
    sender: Sender,
    claimed: readonly ClaimedRequest[],
    because: WithheldCause,
  ) => Promise<void>;
  /** Everything has been sent, or will not be: resolves when that is noted. */
  readonly end: (sender: Sender) => Promise<void>;
};

export type SourceContext = {
  readonly context: EngineContext;
  readonly outageRetry: OutageRetry;
  readonly recorder: Recorder;
  readonly slice: SendingSlice;
  readonly onSettled: (messageId: string, state: SettledState['state']) => void;
};

/** A claim that was refused is asked for again after so long (milliseconds): its run may be paused, or a lock held. */
export const refusedClaimWait = 250;

import type { WithheldCause } from '../../domain/reasons.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import type { SettledState, Settlement } from '../../ledger/requests/settle.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { EngineContext } from '../context.ts';
import type { PreparedRequest, Sender } from './attempt-once.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { Recorder } from './recorder.ts';

/** Supplies the requests of a slice and records their outcomes. */
export type RequestSource = {
  /** @returns 0 at the end */
  readonly available: (max: number, stop: AbortSignal) => Promise<number>;
  /** @returns none if the claim is refused now */
  readonly claim: (limit: number, stop: AbortSignal) => Promise<readonly ClaimedRequest[]>;
  /** @returns undefined if another owner has settled it */
  readonly send: (sender: Sender, prepared: PreparedRequest) => Promise<Settlement | undefined>;
  /** Returns claimed requests of which no byte will leave. */
  readonly release: (
    sender: Sender,
    claimed: readonly ClaimedRequest[],
    because: WithheldCause,
  ) => Promise<void>;
  /** Resolves when all outcomes are recorded. */
  readonly end: (sender: Sender) => Promise<void>;
};

export type SourceContext = {
  readonly context: EngineContext;
  readonly outageRetry: OutageRetry;
  readonly recorder: Recorder;
  readonly slice: SendingSlice;
  readonly onSettled: (messageId: string, state: SettledState['state']) => void;
};

/** Milliseconds until a refused claim is repeated: its run may be paused, or a lock held. */
export const refusedClaimWait = 250;

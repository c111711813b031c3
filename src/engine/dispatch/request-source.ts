import { setTimeout as sleep } from 'node:timers/promises';
import type { WithheldCause } from '../../domain/reasons.ts';
import { findFirstPlanned } from '../../ledger/requests/add-rows.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import type { SettledState, Settlement } from '../../ledger/requests/settle.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { EngineContext } from '../context.ts';
import { type PreparedRequest, type Sender, settlementOf, withheldAttempt } from './attempt-once.ts';
import type { SliceCheckpoint } from './checkpoint.ts';
import { released } from './next-step.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { Recorder } from './recorder.ts';
import { attemptUntilSettled } from './retry-request.ts';

/** Supplies the requests of a slice and records their outcomes. */
export type RequestSource = {
  /** @returns 0 at the end */
  readonly available: (max: number, stop: AbortSignal) => Promise<number>;
  /** @returns none if the claim is refused now */
  readonly claim: (limit: number, stop: AbortSignal) => Promise<readonly ClaimedRequest[]>;
  /** @returns undefined if another owner has settled it */
  readonly send: (sender: Sender, prepared: PreparedRequest) => Promise<Settlement | undefined>;
  /** Releases claimed requests of which no byte will leave. */
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

export function createRowSource(options: SourceContext, checkpoint: SliceCheckpoint): RequestSource {
  const { slice, outageRetry, context, recorder, onSettled } = options;
  const { pool } = context.ledger;
  /** Claimed and not recorded: they may have been sent. */
  const unrecorded = new Set<number>();
  let from: number | undefined;

  return {
    async available(max, stop) {
      const isFirst = from === undefined;
      if (from !== undefined && from <= slice.last) return Math.min(max, slice.last - from + 1);
      from = await outageRetry.retry(() => findFirstPlanned(pool, slice));
      if (from === undefined) return 0;
      // A claim has skipped it: another transaction is changing it.
      if (!isFirst) await sleep(refusedClaimWait, undefined, { signal: stop }).catch(() => undefined);
      return Math.min(max, slice.last - from + 1);
    },
    async claim(limit) {
      const rows = await checkpoint.claimRows({ from: from ?? slice.first, limit }, [...unrecorded]);
      const highest = Math.max(0, ...[...rows.claimed, ...rows.cancelled].map(({ request }) => request));
      from = highest === 0 ? slice.last + 1 : highest + 1;
      for (const { request } of rows.claimed) unrecorded.add(request);
      return rows.claimed;
    },
    async send(sender, prepared) {
      const settlement = await attemptUntilSettled(sender, prepared);
      if (settlement && (await recorder.record(settlement))) {
        onSettled(prepared.claimed.messageId, settlement.state);
      }
      unrecorded.delete(prepared.claimed.request);
      return settlement;
    },
    async release(sender, claimed, because) {
      const now = context.now();
      // If this fails too, the requests are in doubt, and the first failure is reported.
      await Promise.allSettled(
        claimed.map((each) =>
          recorder.record(settlementOf(sender, each, withheldAttempt(because, each.attempt, now), released)),
        ),
      );
    },
    end: async () => undefined,
  };
}

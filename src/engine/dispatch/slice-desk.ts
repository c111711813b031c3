import type { WindowGate } from '../../campaign/window-gate.ts';
import type { Account } from '../../gateway/account.ts';
import { findRefusedFor } from '../../ledger/limits/breaker.ts';
import { doubtsSlice } from '../../ledger/requests/orphans.ts';
import { pauseRun } from '../../ledger/runs/stop.ts';
import type { HeldSlice } from '../../ledger/slices/acquire.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { type RunWatch, watchRuns } from '../../ledger/slices/watch.ts';
import { shutWindow } from '../../ledger/slices/windows.ts';
import { durationText } from '../../platform/scalars.ts';
import type { EngineContext } from '../context.ts';
import type { AccountDesk } from './account-desk.ts';
import type { Checkpointer } from './checkpointer.ts';
import { type DispatchSettings, dispatchSettings, failFastOf } from './dispatch-settings.ts';
import { reasonToStop } from './fail-fast.ts';
import type { Holding } from './holding.ts';
import type { Observer } from './observer.ts';
import type { Patience } from './patience.ts';
import type { Recorder } from './recorder.ts';
import { openRunFiles } from './run-files.ts';
import { settleDoubts } from './settle-doubts.ts';
import { gateOf } from './windows.ts';
import { workSlice } from './work-slice.ts';

/** What all slices share in a process. */
export type SliceDeskTools = {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly patience: Patience;
  readonly checkpointer: Checkpointer;
  readonly recorder: Recorder;
  readonly observer: Observer;
  readonly cutOff: AbortSignal;
};

export type SliceDesk = {
  /** Works a slice until nothing of it is left, or it is to stop; pauses its run where the service says no to all of it. */
  readonly work: (holding: Holding, account: AccountDesk, stop: AbortSignal) => Promise<void>;
  readonly stopIfRejected: (slice: HeldSlice, watch: RunWatch) => Promise<void>;
  readonly planOf: (
    slice: HeldSlice,
    account: Account,
  ) => readonly [DispatchSettings['plan'], DispatchSettings['policy']];
};

export function openSliceDesk(tools: SliceDeskTools): SliceDesk {
  const { context, queue, patience, checkpointer, recorder, observer, cutOff } = tools;
  const { pool } = context.ledger;

  const pause = (run: string, reason: string): Promise<unknown> =>
    patience.persist(() => pauseRun(queue, pool, run, reason));

  async function stopIfRejected({ run, definition }: HeldSlice, watch: RunWatch): Promise<void> {
    const failFast = failFastOf(definition);
    if (!failFast || watch.state !== 'running') return;
    const { total, settled, settledSince, rejectedSince } = watch;
    const answered = { settled: settledSince, rejected: rejectedSince };
    const reason = reasonToStop(failFast, answered, total - (settled - settledSince));
    if (reason !== undefined) await pause(run, reason);
  }

  /** What is left of the slice waits until its window opens; it is not put into the queue before. */
  async function shutIfOver({ run, window }: HeldSlice, gate: WindowGate): Promise<void> {
    const now = context.now();
    if (window === null || gate.isOpen(now)) return;
    const opensAt = gate.opensAt(now);
    await patience.persist(() => shutWindow(pool, { run, place: window.place, opensAt }));
  }

  return {
    stopIfRejected,
    planOf({ run, definition }, account) {
      const { plan, policy } = dispatchSettings(run, account, definition);
      return [plan, policy];
    },
    async work(holding, { account, gateway, limiter, breaker }, stop) {
      const { slice } = holding;
      const settings = dispatchSettings(slice.run, account, slice.definition);
      if (slice.slice === doubtsSlice) {
        await settleDoubts({
          context,
          patience,
          holding,
          account,
          gateway,
          limiter,
          policy: settings.policy,
          stop,
        });
        return;
      }
      const gate = gateOf(slice.definition, slice.window);
      let pausing: Promise<unknown> | undefined;
      await workSlice({
        holding,
        patience,
        checkpointer,
        recorder,
        files: openRunFiles(pool, slice.run),
        concurrency: settings.concurrency,
        sender: {
          context,
          patience,
          gateway,
          limiter,
          breaker: settings.giveUpAfter === 0 ? undefined : breaker,
          stop,
          cutOff,
          run: slice.run,
          slice: slice.slice,
          owner: slice.owner,
          channel: slice.channel,
          retries: settings.retries,
          bisect: settings.bisect,
          surelyHeld: holding.surelyHeld,
          stillHeld: holding.stillHeld,
          mayLeave: () => gate?.isOpen(context.now()) ?? true,
        },
        onSettled: (messageId, state) =>
          observer.settled({ account: account.name, run: slice.run, messageId, state }),
        onRefused: (words) => {
          const reason = `the service refused the credential of account "${account.name}": ${words}`;
          pausing = pause(slice.run, reason);
        },
        givesUp: async () => {
          const refused = await findRefusedFor(pool, slice.run);
          if (!refused || refused.milliseconds < settings.giveUpAfter) return false;
          const time = durationText(settings.giveUpAfter);
          await pause(
            slice.run,
            `the service of account "${account.name}" has refused everything for ${time}: ${refused.reason}`,
          );
          return true;
        },
      });
      // The slice is given up only after that, or it would be taken again.
      await pausing;
      if (gate) await shutIfOver(slice, gate);
      const watch = (await patience.persist(() => watchRuns(pool, [slice.run]))).get(slice.run);
      if (watch) await stopIfRejected(slice, watch);
    },
  };
}

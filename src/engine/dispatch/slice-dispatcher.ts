import type { WindowGate } from '../../campaign/window-gate.ts';
import type { FailFastReason, RunReason } from '../../domain/reasons.ts';
import type { Account } from '../../gateway/account.ts';
import { findRefusalTime } from '../../ledger/limits/breaker.ts';
import { failRefused } from '../../ledger/requests/fail-refused.ts';
import { pauseRun } from '../../ledger/runs/stop.ts';
import type { HeldSlice, SendingSlice } from '../../ledger/slices/acquire.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { closeWindow } from '../../ledger/slices/windows.ts';
import type { EngineContext } from '../context.ts';
import type { AccountRuntime } from './account-runtime.ts';
import type { Checkpointer } from './checkpoint.ts';
import { type DispatchSettings, dispatchSettings, type FailFast, failFastOf } from './dispatch-settings.ts';
import type { Lease } from './lease.ts';
import type { Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { Recorder } from './recorder.ts';
import { createRunFiles } from './run-files.ts';
import { settleDoubts } from './settle-doubts.ts';
import { windowGateOf } from './windows.ts';
import { workSlice } from './work-slice.ts';

export type SliceDispatcherOptions = {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly outageRetry: OutageRetry;
  readonly checkpointer: Checkpointer;
  readonly recorder: Recorder;
  readonly observer: Observer;
  readonly cutOff: AbortSignal;
};

export type SliceDispatcher = {
  /** Works a slice until nothing of it is left, or it is to stop; pauses its run where the service says no to all of it. */
  readonly dispatch: (
    slice: HeldSlice,
    lease: Lease,
    account: AccountRuntime,
    stop: AbortSignal,
  ) => Promise<void>;
  readonly stopIfRejected: (slice: HeldSlice, watch: DispatchProgress) => Promise<void>;
  readonly planOf: (
    slice: HeldSlice,
    account: Account,
  ) => readonly [DispatchSettings['plan'], DispatchSettings['policy']];
};

export function createSliceDispatcher(tools: SliceDispatcherOptions): SliceDispatcher {
  const { context, queue, outageRetry, checkpointer, recorder, observer, cutOff } = tools;
  const { pool } = context.ledger;

  const pause = (run: string, reason: RunReason): Promise<unknown> =>
    outageRetry.retry(() => pauseRun(queue, pool, run, reason));

  async function stopIfRejected({ run, definition }: HeldSlice, watch: DispatchProgress): Promise<void> {
    const failFast = failFastOf(definition);
    if (!failFast || watch.state !== 'running') return;
    const { total, settled, settledSince, rejectedSince } = watch;
    const answered = { settled: settledSince, rejected: rejectedSince };
    const reason = reasonToStop(failFast, answered, total - (settled - settledSince));
    if (reason !== undefined) await pause(run, reason);
  }

  /** What is left of the slice waits until its window opens; it is not put into the queue before. */
  async function shutWindowIfOver({ run, window }: SendingSlice, gate: WindowGate): Promise<void> {
    const now = context.now();
    if (window === null || gate.isOpen(now)) return;
    const opensAt = gate.opensAt(now);
    await outageRetry.retry(() => closeWindow(pool, { run, windowIndex: window.windowIndex, opensAt }));
  }

  async function send(
    slice: SendingSlice,
    lease: Lease,
    runtime: AccountRuntime,
    stop: AbortSignal,
  ): Promise<void> {
    const { account, gateway, limiter, breaker } = runtime;
    const { run } = slice;
    const settings = dispatchSettings(run, account, slice.definition);
    const gate = windowGateOf(slice.definition, slice.window);
    let pendingPause: Promise<unknown> | undefined;
    await workSlice({
      ...{ slice, outageRetry, checkpointer, recorder },
      files: createRunFiles(pool, run),
      concurrency: settings.concurrency,
      sender: {
        ...{ context, outageRetry, gateway, limiter, stop, cutOff, run },
        ...{ slice: slice.slice, owner: slice.owner, channel: slice.channel },
        ...{ retries: settings.retries, bisect: settings.bisect },
        breaker: settings.giveUpAfter === 0 ? undefined : breaker,
        isLeaseValid: lease.isValid,
        ensureLease: lease.ensureValid,
        isWindowOpen: () => gate?.isOpen(context.now()) ?? true,
      },
      onSettled: (messageId, state) => observer.settled({ account: account.name, run, messageId, state }),
      onRefused: (words) => {
        pendingPause = pause(run, { kind: 'credential_refused', account: account.name, words });
        // Its failure is met below, unless the slice fails first.
        pendingPause.catch(() => undefined);
      },
      giveUpIfRefused: () => giveUpIfRefused(slice, account, settings),
    });
    // The slice is given up only after that, or it would be taken again.
    await pendingPause;
    if (gate) await shutWindowIfOver(slice, gate);
    const watch = (await outageRetry.retry(() => readDispatchProgress(pool, [run]))).get(run);
    if (watch) await stopIfRejected(slice, watch);
  }

  /**
   * Where the service has refused everything for so long that the run waits no longer, it is paused. A request that was
   * refused until the last such pause too fails: else it alone could have the run paused again and again.
   *
   * @returns whether the slice is to be given up
   */
  async function giveUpIfRefused(
    slice: SendingSlice,
    account: Account,
    { giveUpAfter }: DispatchSettings,
  ): Promise<boolean> {
    const { run } = slice;
    const refused = await findRefusalTime(pool, run);
    if (!refused || refused.milliseconds < giveUpAfter) return false;
    if ((await failRefused(pool, slice, context.now())) > 0) return true;
    const words = refused.reason;
    await pause(run, { kind: 'service_refuses', account: account.name, milliseconds: giveUpAfter, words });
    return true;
  }

  return {
    stopIfRejected,
    planOf({ run, definition }, account) {
      const { plan, policy } = dispatchSettings(run, account, definition);
      return [plan, policy];
    },
    async dispatch(slice, lease, runtime, stop) {
      if (slice.phase === 'sending') return send(slice, lease, runtime, stop);
      const { policy } = dispatchSettings(slice.run, runtime.account, slice.definition);
      return settleDoubts({ ...runtime, context, outageRetry, slice, policy, stop });
    },
  };
}

export type Answered = { readonly settled: number; readonly rejected: number };

/**
 * @param total how many there are to be answered
 * @returns why; undefined where there is no reason to
 */
export function reasonToStop(
  { first, share }: FailFast,
  { settled, rejected }: Answered,
  total: number,
): FailFastReason | undefined {
  if (settled < Math.min(first, total) || rejected === 0) return undefined;
  if (rejected === settled) return { kind: 'all_rejected', requests: settled };
  if (share === undefined || rejected <= share * settled) return undefined;
  return { kind: 'too_many_rejected', rejected, requests: settled, share };
}

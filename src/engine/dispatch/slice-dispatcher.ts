import { firstByDefault } from '../../campaign/dispatch.ts';
import type { WindowGate } from '../../campaign/window.ts';
import { failFastReason } from '../../decisions/guard.ts';
import type { RunReason } from '../../domain/reasons.ts';
import type { Account } from '../../gateway/account.ts';
import { findRefusalTime } from '../../ledger/limits/breaker.ts';
import { failRefused } from '../../ledger/requests/release.ts';
import { pauseRun } from '../../ledger/runs/stop.ts';
import type { HeldSlice, SendingSlice } from '../../ledger/slices/acquire.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { closeWindow } from '../../ledger/slices/windows.ts';
import type { EngineContext } from '../context.ts';
import type { AccountRuntime } from './account-runtime.ts';
import { type AddressCheck, createAddressCheck, createAddressChecks } from './address-check.ts';
import { createBegunRunNotes } from './begun-runs.ts';
import type { Checkpointer } from './checkpointer.ts';
import { type DispatchSettings, dispatchSettings, failFastOf } from './dispatch-settings.ts';
import type { Lease } from './lease.ts';
import { settleDoubts } from './look-up-doubts.ts';
import type { Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { Recorder } from './recorder.ts';
import { createRunFiles } from './run-files.ts';
import { windowGateOf } from './windows.ts';
import { type SliceWork, workSlice } from './work-slice.ts';

type SliceDispatcherOptions = {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly outageRetry: OutageRetry;
  readonly checkpointer: Checkpointer;
  readonly recorder: Recorder;
  readonly observer: Observer;
  readonly cutOff: AbortSignal;
};

export type SliceDispatcher = {
  /** Pauses the run if the service refuses the credential or every request. */
  readonly dispatch: (
    slice: HeldSlice,
    lease: Lease,
    account: AccountRuntime,
    stop: AbortSignal,
  ) => Promise<void>;
  readonly stopIfRejected: (slice: HeldSlice, progress: DispatchProgress) => Promise<void>;
  readonly settingsOf: (slice: HeldSlice, account: Account) => Pick<DispatchSettings, 'plan' | 'policy'>;
};

export function createSliceDispatcher(options: SliceDispatcherOptions): SliceDispatcher {
  const addressChecks = createAddressChecks();
  const noteBegun = createBegunRunNotes(options.context);
  return {
    stopIfRejected: (slice, progress) => stopIfRejected(options, slice, progress),
    settingsOf: ({ run, definition }, account) => dispatchSettings(run, account, definition),
    async dispatch(slice, lease, runtime, stop) {
      const { context, outageRetry } = options;
      const { run } = slice;
      const settings = dispatchSettings(run, runtime.account, slice.definition);
      const { policy } = settings;
      if (slice.phase === 'sending') {
        await outageRetry.retry(() => noteBegun(run, runtime.account, settings));
        const first = settings.failFast?.first ?? firstByDefault;
        const addressCheck = addressChecks.enter(run, () =>
          createAddressCheck(first, (reason) => pause(options, run, reason)),
        );
        try {
          return await send(options, { slice, settings, lease, runtime, addressCheck, stop });
        } finally {
          addressChecks.leave(run);
        }
      }
      return settleDoubts({ ...runtime, context, outageRetry, slice, policy, stop });
    },
  };
}

type Sending = {
  readonly slice: SendingSlice;
  readonly settings: DispatchSettings;
  readonly lease: Lease;
  readonly runtime: AccountRuntime;
  readonly addressCheck: AddressCheck;
  readonly stop: AbortSignal;
};

async function send(options: SliceDispatcherOptions, sending: Sending): Promise<void> {
  const { context, outageRetry, checkpointer, recorder, observer } = options;
  const { slice, settings, runtime, addressCheck } = sending;
  const { account } = runtime;
  const { run } = slice;
  const gate = windowGateOf(slice.definition, slice.window);
  let pendingPause: Promise<unknown> | undefined;
  await workSlice({
    slice,
    checkpointer,
    recorder,
    files: createRunFiles(context.ledger.pool, run),
    concurrency: settings.concurrency,
    sender: createSender(options, sending, gate),
    onSettled: (messageId, state) => observer.settled({ account: account.name, run, messageId, state }),
    onRefused: (words) => {
      pendingPause = pause(options, run, { kind: 'credential_refused', account: account.name, words });
      // It is thrown below, unless the slice fails first.
      pendingPause.catch(() => undefined);
    },
  });
  // Before the slice is returned, or it would be acquired again.
  await pendingPause;
  await addressCheck.whenPaused();
  if (gate) await closeWindowIfOver(options, slice, gate);
  const progress = (await outageRetry.retry(() => readDispatchProgress(context.ledger.pool, [run]))).get(run);
  if (progress) await stopIfRejected(options, slice, progress);
}

function createSender(
  options: SliceDispatcherOptions,
  { slice: held, settings, lease, runtime, addressCheck, stop }: Sending,
  gate: WindowGate | undefined,
): SliceWork['sender'] {
  const { context, outageRetry, cutOff } = options;
  const { run, slice, owner, channel } = held;
  const { account, gateway, limiter, breaker } = runtime;
  return {
    context,
    outageRetry,
    gateway,
    limiter,
    breaker: settings.giveUpAfter === 0 ? undefined : breaker,
    run,
    slice,
    owner,
    channel,
    addressCheck,
    retries: settings.retries,
    bisect: settings.bisect,
    stop: AbortSignal.any([stop, addressCheck.paused]),
    cutOff,
    isLeaseValid: lease.isValid,
    ensureLease: lease.ensureValid,
    isWindowOpen: () => gate?.isOpen(context.now()) ?? true,
    giveUpIfRefused: () => giveUpIfRefused(options, held, account, settings),
  };
}

function pause(
  { context, queue, outageRetry }: SliceDispatcherOptions,
  run: string,
  reason: RunReason,
): Promise<unknown> {
  return outageRetry.retry(() => pauseRun(queue, context.ledger.pool, run, { reason }));
}

async function stopIfRejected(
  options: SliceDispatcherOptions,
  { run, definition }: HeldSlice,
  progress: DispatchProgress,
): Promise<void> {
  const failFast = failFastOf(definition);
  if (!failFast || progress.state !== 'running') return;
  const { total, settled, settledSince, rejectedSince } = progress;
  const answered = { settled: settledSince, rejected: rejectedSince };
  const reason = failFastReason(failFast, answered, total - (settled - settledSince));
  if (reason !== undefined) await pause(options, run, reason);
}

async function closeWindowIfOver(
  { context, outageRetry }: SliceDispatcherOptions,
  { run, window }: SendingSlice,
  gate: WindowGate,
): Promise<void> {
  const now = context.now();
  if (window === null || gate.isOpen(now)) return;
  const opensAt = gate.opensAt(now);
  const { windowIndex } = window;
  await outageRetry.retry(() => closeWindow(context.ledger.pool, { run, windowIndex, opensAt }));
}

/**
 * Pauses the run if the service has refused every request for `giveUpAfter`. A request that was refused until the
 * last such pause too fails instead, or it could pause the run again and again.
 *
 * @returns whether the worker returns the slice
 */
async function giveUpIfRefused(
  options: SliceDispatcherOptions,
  slice: SendingSlice,
  account: Account,
  { giveUpAfter }: DispatchSettings,
): Promise<boolean> {
  const { ledger, now } = options.context;
  const { run } = slice;
  const refused = await findRefusalTime(ledger.pool, run);
  if (!refused || refused.milliseconds < giveUpAfter) return false;
  if ((await failRefused(ledger.pool, slice, now())) > 0) return true;
  await pause(options, run, {
    kind: 'service_refuses',
    account: account.name,
    milliseconds: giveUpAfter,
    words: refused.reason,
  });
  return true;
}

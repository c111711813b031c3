import { firstByDefault } from '../../campaign/run-guard-definition.ts';
import type { WindowGate } from '../../campaign/window.ts';
import { failFastReason } from '../../decisions/guard.ts';
import type { RunReason } from '../../domain/reasons.ts';
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
import type { Recorder } from './checkpoint.ts';
import type { Checkpointer } from './checkpointer.ts';
import { type DispatchSettings, failFastOf } from './dispatch-settings.ts';
import type { Lease } from './lease.ts';
import { settleDoubts } from './look-up-doubts.ts';
import type { Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import { createFileLoader } from './run-files.ts';
import { windowGateOf } from './windows.ts';
import { workSlice } from './work-slice.ts';

/** What the slices of a worker share. */
export type Dispatch = {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly outageRetry: OutageRetry;
  readonly checkpointer: Checkpointer;
  readonly record: Recorder;
  readonly observer: Partial<Observer>;
  /** When aborted, requests in flight are abandoned. */
  readonly cutOff: AbortSignal;
};

/** A slice of this worker, and its account. */
type Dispatched = AccountRuntime & {
  readonly slice: HeldSlice;
  readonly settings: DispatchSettings;
  readonly lease: Lease;
  readonly stop: AbortSignal;
};

/** @returns works a slice; pauses its run if the service refuses the credential or every request */
export function createSliceDispatcher(dispatch: Dispatch): (dispatched: Dispatched) => Promise<void> {
  const { context, outageRetry } = dispatch;
  const addressChecks = createAddressChecks();
  const noteBegun = createBegunRunNotes(context);
  return async (dispatched) => {
    const { slice, settings, account } = dispatched;
    const { run } = slice;
    if (slice.phase !== 'sending') return settleDoubts({ ...dispatched, context, outageRetry, slice });
    await outageRetry.retry(() => noteBegun(run, account, settings));
    const first = settings.failFast?.first ?? firstByDefault;
    const addressCheck = addressChecks.enter(run, () =>
      createAddressCheck(first, (reason) => pause(dispatch, run, reason)),
    );
    try {
      return await send(dispatch, { ...dispatched, slice, addressCheck });
    } finally {
      addressChecks.leave(run);
    }
  };
}

type Sending = Dispatched & { readonly slice: SendingSlice; readonly addressCheck: AddressCheck };

async function send(dispatch: Dispatch, sending: Sending): Promise<void> {
  const { context, outageRetry, observer } = dispatch;
  const { slice, settings, account, addressCheck, stop } = sending;
  const { run } = slice;
  const gate = windowGateOf(slice.definition, slice.window);
  let pausing: Promise<unknown> | undefined;
  await workSlice({
    ...dispatch,
    ...sending,
    breaker: settings.giveUpAfter === 0 ? undefined : sending.breaker,
    loadFiles: createFileLoader(context.ledger.pool, run),
    stop: AbortSignal.any([stop, addressCheck.paused]),
    isWindowOpen: () => gate?.isOpen(context.now()) ?? true,
    giveUpIfRefused: () => giveUpIfRefused(dispatch, sending),
    onSettled: (messageId, state) => observer.settled?.({ account: account.name, run, messageId, state }),
    onRefused: (words) => {
      pausing ??= pause(dispatch, run, { kind: 'credential_refused', account: account.name, words });
      // It is thrown below, unless the slice fails first.
      pausing.catch(() => undefined);
    },
  });
  // Before the slice is returned, or it would be acquired again.
  await pausing;
  await addressCheck.whenPaused();
  if (gate) await closeWindowIfOver(dispatch, slice, gate);
  const progress = (await outageRetry.retry(() => readDispatchProgress(context.ledger.pool, [run]))).get(run);
  if (progress) await stopIfRejected(dispatch, slice, progress);
}

function pause({ context, queue, outageRetry }: Dispatch, run: string, reason: RunReason): Promise<unknown> {
  return outageRetry.retry(() => pauseRun(queue, context.ledger.pool, run, { reason }));
}

export async function stopIfRejected(
  dispatch: Dispatch,
  { run, definition }: HeldSlice,
  progress: DispatchProgress,
): Promise<void> {
  const failFast = failFastOf(definition);
  if (!failFast || progress.state !== 'running') return;
  const { total, settled, settledSince, rejectedSince } = progress;
  const answered = { settled: settledSince, rejected: rejectedSince };
  const reason = failFastReason(failFast, answered, total - (settled - settledSince));
  if (reason !== undefined) await pause(dispatch, run, reason);
}

async function closeWindowIfOver(
  { context, outageRetry }: Dispatch,
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
async function giveUpIfRefused(dispatch: Dispatch, { slice, account, settings }: Sending): Promise<boolean> {
  const { ledger, now } = dispatch.context;
  const { run } = slice;
  const { giveUpAfter } = settings;
  const refused = await findRefusalTime(ledger.pool, run);
  if (!refused || refused.milliseconds < giveUpAfter) return false;
  if ((await failRefused(ledger.pool, slice, now())) > 0) return true;
  await pause(dispatch, run, {
    kind: 'service_refuses',
    account: account.name,
    milliseconds: giveUpAfter,
    words: refused.reason,
  });
  return true;
}

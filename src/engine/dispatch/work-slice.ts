import { setTimeout as sleep } from 'node:timers/promises';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import type { SettledState } from '../../ledger/requests/settle.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import { trace } from '../trace-points.ts';
import type { Reservations } from './address-check.ts';
import type { PreparedRequest, Sender } from './attempt-once.ts';
import type { SliceCheckpoint } from './checkpoint.ts';
import type { Checkpointer } from './checkpointer.ts';
import { createLanes } from './lanes.ts';
import type { OutageRetry } from './outage-retry.ts';
import { createRangeSource } from './range-source.ts';
import type { Recorder } from './recorder.ts';
import type { RequestSource } from './request-source.ts';
import { createRowSource } from './row-source.ts';
import type { FileContents, RunFiles } from './run-files.ts';
import { createWakeup } from './wakeup.ts';

export type SliceWork = {
  readonly slice: SendingSlice;
  readonly sender: Sender;
  readonly outageRetry: OutageRetry;
  readonly checkpointer: Checkpointer;
  readonly recorder: Recorder;
  readonly files: RunFiles;
  /** Requests in flight. */
  readonly concurrency: number;
  readonly onSettled: (messageId: string, state: SettledState['state']) => void;
  /** The service refused the credential. */
  readonly onRefused: (words: string) => void;
  readonly giveUpIfRefused: () => Promise<boolean>;
};

/**
 * Sends the planned requests of a held slice until none is left, its window closes, or `stop`. The next batch is
 * claimed while one is in flight. Every outcome is recorded at the end.
 *
 * @throws Error if the ledger fails, other than by an outage
 */
export async function workSlice(work: SliceWork): Promise<void> {
  const { stop } = work.sender;
  const halted = new AbortController();
  const halt = (): void => halted.abort();
  // Each read of a composed signal checks all its sources.
  if (stop.aborted) halt();
  stop.addEventListener('abort', halt, { once: true });
  try {
    await sendAll({ ...work, sender: { ...work.sender, stop: halted.signal } }, halt);
  } finally {
    stop.removeEventListener('abort', halt);
  }
}

async function sendAll(work: SliceWork, halt: () => void): Promise<void> {
  const { outageRetry, recorder, slice, sender, onSettled } = work;
  const room = createWakeup();
  let failure: { readonly error: unknown } | undefined;
  let isRefused = false;
  const fail = (error: unknown): void => {
    failure ??= { error };
    halt();
  };
  const onRefused = (words: string): void => {
    if (!isRefused && !failure) work.onRefused(words);
    isRefused = true;
    halt();
  };
  const checkpoint = work.checkpointer.open(slice, {
    onAccepted({ messageId }) {
      onSettled(messageId, 'accepted');
      room.signal();
    },
    onFailed: fail,
    recorder,
  });
  const sourceContext = { context: sender.context, outageRetry, recorder, slice, onSettled };
  const reservations = sender.addressCheck.join(room.signal);
  try {
    for (const open of [createRangeSource, createRowSource]) {
      const source = open(sourceContext, checkpoint);
      const sending = { work, source, checkpoint, room, reservations, onRefused, fail };
      const isDone = await sendFromSource(sending);
      await source.end(sender).catch(fail);
      if (failure) throw failure.error;
      if (!isDone) break;
    }
  } finally {
    reservations.leave();
  }
}

type SourceWork = {
  readonly work: SliceWork;
  readonly source: RequestSource;
  readonly checkpoint: SliceCheckpoint;
  readonly room: ReturnType<typeof createWakeup>;
  readonly reservations: Reservations;
  /** Halts the slice, and reports the first refusal. */
  readonly onRefused: (words: string) => void;
  readonly fail: (error: unknown) => void;
};

/**
 * After a kill, every claimed request without a recorded outcome is in doubt. So at most four times `concurrency` are
 * claimed and not recorded:
 *
 * - A claim has `concurrency` requests, plus up to as many again that the service answered during the last
 *   claim. Otherwise a fast service would wait for each claim.
 * - Nothing is claimed while twice `concurrency` are accepted and not recorded.
 *
 * @returns false if the slice stops before its end
 */
async function sendFromSource(sending: SourceWork): Promise<boolean> {
  const { work, source, checkpoint, room, reservations, fail } = sending;
  const { sender, concurrency } = work;
  const { stop } = sender;
  let answered = 0;
  let answeredInClaim = 0;
  const lanes = createLanes(concurrency, async (prepared: PreparedRequest) => {
    signalIfRoom();
    await sendOne(sending, prepared);
    reservations.release(1);
    answered++;
  });
  const claimAhead = (): number => Math.min(concurrency, answeredInClaim);
  const hasRoom = (): boolean =>
    lanes.waiting() <= claimAhead() && checkpoint.unrecorded() <= 2 * concurrency;

  function signalIfRoom(): void {
    if (hasRoom()) room.signal();
    if (lanes.waiting() === 0) checkpoint.flush();
  }

  async function claimAll(): Promise<boolean> {
    for (;;) {
      while (!stop.aborted && !hasRoom()) await room.wait(1_000, stop);
      if (stop.aborted || !sender.isWindowOpen()) return false;
      // Asks for no more permits than there are requests. Otherwise, at a low rate, the slice would end late.
      const available = await source.available(concurrency + claimAhead(), stop);
      if (available === 0) return true;
      const reserved = await reserve(sending, available);
      if (reserved === 0) return false;
      const entry = await waitForBreaker(work, stop);
      if (entry === 'no') return false;
      const { probe } = entry;
      const admitted = await waitForRate(work, probe === undefined ? reserved : 1, stop, probe);
      if (admitted === 0) return false;
      const before = answered;
      const claiming = claim(sending, admitted, probe);
      signalIfRoom();
      const claimed = await claiming;
      reservations.release(reserved - claimed.length);
      lanes.add(claimed);
      answeredInClaim = answered - before;
    }
  }

  try {
    return await claimAll();
  } catch (error) {
    fail(error);
    return false;
  } finally {
    await lanes.whenIdle();
  }
}

/** @returns 0 if the slice stops */
async function reserve(
  { reservations, room, work: { sender } }: SourceWork,
  wanted: number,
): Promise<number> {
  const { stop } = sender;
  for (;;) {
    if (stop.aborted) return 0;
    const reserved = reservations.reserve(wanted);
    if (reserved > 0) return reserved;
    await room.wait(1_000, stop);
  }
}

async function claim(
  { source, work }: SourceWork,
  admitted: number,
  probe: string | undefined,
): Promise<readonly PreparedRequest[]> {
  const { sender, slice, outageRetry } = work;
  trace('claiming', slice.run);
  const claimed = await source.claim(admitted, sender.stop);
  trace('claimed', slice.run);
  const recipients = claimed.reduce((sum, { destinations }) => sum + destinations.count, 0);
  await outageRetry.retry(() => sender.limiter.spend({ admitted, claimed: claimed.length, recipients }));
  if (probe !== undefined && claimed.length === 0)
    await outageRetry.retry(async () => sender.breaker?.releaseProbe(probe));
  const contents = await loadOrRelease(source, work, claimed);
  return claimed.map((each): PreparedRequest => ({ claimed: each, contents, probe }));
}

async function sendOne(
  { work: { sender }, source, onRefused, fail }: SourceWork,
  prepared: PreparedRequest,
): Promise<void> {
  try {
    const settlement = await source.send(sender, prepared);
    const isRefused = settlement?.state === 'planned' && settlement.verdict === 'unauthorized';
    if (isRefused) onRefused(formatReasonOrNull(settlement.detail) ?? '');
  } catch (error) {
    fail(error);
  }
}

/** @returns `probe`: the right to probe */
async function waitForBreaker(
  { sender, outageRetry, giveUpIfRefused }: SliceWork,
  stop: AbortSignal,
): Promise<'no' | { readonly probe: string | undefined }> {
  while (!stop.aborted) {
    const { breaker } = sender;
    if (!breaker) return { probe: undefined };
    const probe = sender.context.randomUuid();
    const entry = await outageRetry.retry(() => breaker.enter(probe));
    if (typeof entry === 'string') return { probe: entry === 'probe' ? probe : undefined };
    const signal = AbortSignal.any([stop, breaker.changeSignal()]);
    if (!sender.isWindowOpen() || (await outageRetry.retry(giveUpIfRefused))) return 'no';
    await sleep(entry, undefined, { signal }).catch(() => undefined);
  }
  return 'no';
}

/** @returns 0 if the slice stops or its window has closed */
async function waitForRate(
  { sender, outageRetry }: SliceWork,
  wanted: number,
  stop: AbortSignal,
  probe: string | undefined,
): Promise<number> {
  const { limiter, breaker } = sender;
  const admitted = await outageRetry.retry(() => limiter.admit(wanted, stop), stop);
  const mayProbe = async () =>
    probe === undefined || !breaker || (await outageRetry.retry(() => breaker.extendProbe(probe)));
  if (admitted > 0 && sender.isWindowOpen() && (await mayProbe())) return admitted;
  await outageRetry.retry(() => limiter.spend({ admitted, claimed: 0, recipients: 0 }));
  if (probe !== undefined) await outageRetry.retry(async () => breaker?.releaseProbe(probe));
  return 0;
}

/**
 * Loads the files of claimed requests, or releases the requests. They would be in doubt otherwise, although no byte was
 * sent.
 */
async function loadOrRelease(
  source: RequestSource,
  { sender, files, outageRetry }: SliceWork,
  claimed: readonly ClaimedRequest[],
): Promise<FileContents> {
  try {
    return await outageRetry.retry(() => files.load(claimed));
  } catch (error) {
    await source.release(sender, claimed, 'files_unread');
    throw error;
  }
}

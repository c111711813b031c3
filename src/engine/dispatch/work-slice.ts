import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedRequest } from '../../ledger/requests/claimed.ts';
import type { Settled } from '../../ledger/requests/settlement.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import { reasonWordsOrNull } from '../../platform/reason-words.ts';
import { pass } from '../points.ts';
import { openBell } from './bell.ts';
import type { Checkpointer, SliceCheckpoint } from './checkpoint.ts';
import { openLanes } from './lanes.ts';
import { openOrdinaryRequests } from './ordinary-requests.ts';
import type { Patience } from './patience.ts';
import type { Recorder } from './recorder.ts';
import type { RequestSource } from './request-source.ts';
import { openRowRequests } from './row-requests.ts';
import type { FileContents, RunFiles } from './run-files.ts';
import type { Sender, Sending } from './try-once.ts';

export type SliceWork = {
  readonly slice: SendingSlice;
  readonly sender: Sender;
  readonly patience: Patience;
  readonly checkpointer: Checkpointer;
  readonly recorder: Recorder;
  readonly files: RunFiles;
  /** Most requests in flight. */
  readonly concurrency: number;
  /** An outcome is committed. */
  readonly onSettled: (messageId: string, state: Settled['state']) => void;
  /** The service refused the credential, in its own words. */
  readonly onRefused: (words: string) => void;
  /** Whether the run is to wait no longer for a service that refuses everything. */
  readonly givesUp: () => Promise<boolean>;
};

/**
 * Sends the planned requests of a held slice, first those that have no rows of their own: claims a batch, sends it, records
 * the outcomes; the next batch is claimed while this one is in flight. Ends when nothing is planned, when its window
 * shuts, or when it is to stop, with everything recorded that had begun.
 *
 * @throws Error when the ledger fails otherwise than by being away
 */
export async function workSlice(work: SliceWork): Promise<void> {
  const { stop } = work.sender;
  const halted = new AbortController();
  const halt = (): void => halted.abort();
  // A signal of its own: one that is composed of others looks through them each time it is asked.
  if (stop.aborted) halt();
  stop.addEventListener('abort', halt, { once: true });
  try {
    await sendAll({ ...work, sender: { ...work.sender, stop: halted.signal } }, halt);
  } finally {
    stop.removeEventListener('abort', halt);
  }
}

async function sendAll(work: SliceWork, halt: () => void): Promise<void> {
  const { recorder, slice, sender } = work;
  const room = openBell();
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
      work.onSettled(messageId, 'accepted');
      room.ring();
    },
    onFailed: fail,
    recorder,
  });
  const tools = { ...work, context: sender.context };
  for (const open of [openOrdinaryRequests, openRowRequests]) {
    const source = open(tools, checkpoint);
    const isDone = await sendFrom({ ...work, source, checkpoint, room, onRefused, fail });
    await source.end(sender).catch(fail);
    if (failure) throw failure.error;
    if (!isDone) break;
  }
}

type Sent = SliceWork & {
  readonly source: RequestSource;
  readonly checkpoint: SliceCheckpoint;
  /** Rings when there may be room for a claim. */
  readonly room: ReturnType<typeof openBell>;
  readonly fail: (error: unknown) => void;
};

/**
 * After a kill, every claimed request that is not recorded is in doubt. A slice therefore claims as many requests as may be in
 * flight at once, and besides them only as many as the service answered during the last claim: a quick service would
 * otherwise wait for each claim. Nothing is claimed while twice as many as may be in flight are accepted and not recorded.
 * So at most four times as many as may be in flight are ever in doubt. The account's rate is asked before each claim.
 *
 * @returns when all is sent that was claimed; false where the slice is to stop before its end
 */
async function sendFrom(work: Sent): Promise<boolean> {
  const { source, sender, checkpoint, concurrency, room, fail } = work;
  const { stop } = sender;
  let answered = 0;
  let answeredInClaim = 0;
  const lanes = openLanes(concurrency, async (sending: Sending) => {
    wakeIfShort();
    await sendOne(work, sending);
    answered++;
  });
  const early = (): number => Math.min(concurrency, answeredInClaim);
  const hasRoom = (): boolean => lanes.waiting() <= early() && checkpoint.unrecorded() <= 2 * concurrency;

  function wakeIfShort(): void {
    if (hasRoom()) room.ring();
    if (lanes.waiting() === 0) checkpoint.hurry();
  }

  async function claimAll(): Promise<boolean> {
    for (;;) {
      while (!stop.aborted && !hasRoom()) await room.wait(1_000, stop);
      if (stop.aborted || !sender.mayLeave()) return false;
      // What is not there is not waited for: at a low rate, a slice would end late.
      const wanted = await source.available(concurrency + early(), stop);
      if (wanted === 0) return true;
      const entry = await mayEnter(work, stop);
      if (entry === 'no') return false;
      const { probe } = entry;
      const admitted = await admit(work, probe === undefined ? wanted : 1, stop, probe);
      if (admitted === 0) return false;
      const before = answered;
      const claiming = claim(work, admitted, probe);
      wakeIfShort();
      lanes.add(await claiming);
      answeredInClaim = answered - before;
    }
  }

  try {
    return await claimAll();
  } catch (error) {
    fail(error);
    return false;
  } finally {
    await lanes.idle();
  }
}

async function claim(
  { source, sender, slice, files, patience }: Sent,
  admitted: number,
  probe: string | undefined,
): Promise<readonly Sending[]> {
  pass('claiming', slice.run);
  const claimed = await source.claim(admitted, sender.stop);
  pass('claimed', slice.run);
  const recipients = claimed.reduce((sum, { destinations }) => sum + destinations.count, 0);
  await patience.persist(() => sender.limiter.spend({ admitted, claimed: claimed.length, recipients }));
  if (probe !== undefined && claimed.length === 0)
    await patience.persist(async () => sender.breaker?.notTried(probe));
  const contents = await loadOrRelease({ source, sender, files, patience }, claimed);
  return claimed.map((each): Sending => ({ claimed: each, contents, probe }));
}

async function sendOne({ source, sender, onRefused, fail }: Sent, sending: Sending): Promise<void> {
  try {
    const settlement = await source.send(sender, sending);
    const isRefused = settlement?.state === 'planned' && settlement.verdict === 'unauthorized';
    if (isRefused) onRefused(reasonWordsOrNull(settlement.detail) ?? '');
  } catch (error) {
    fail(error);
  }
}

/** Waits while the service refuses everything. @returns `probe`: the right of one request to try it again */
async function mayEnter(
  { sender, patience, givesUp }: SliceWork,
  stop: AbortSignal,
): Promise<'no' | { readonly probe: string | undefined }> {
  while (!stop.aborted) {
    const { breaker } = sender;
    if (!breaker) return { probe: undefined };
    const probe = sender.context.randomUuid();
    const entry = await patience.persist(() => breaker.enter(probe));
    if (typeof entry === 'string') return { probe: entry === 'probe' ? probe : undefined };
    const signal = AbortSignal.any([stop, breaker.change()]);
    if (!sender.mayLeave() || (await patience.persist(givesUp))) return 'no';
    await sleep(entry, undefined, { signal }).catch(() => undefined);
  }
  return 'no';
}

/** Waits for the account's rate. @returns 0 when the slice is to stop, or its window has shut */
async function admit(
  { sender, patience }: SliceWork,
  wanted: number,
  stop: AbortSignal,
  probe: string | undefined,
): Promise<number> {
  const { limiter, breaker } = sender;
  const admitted = await patience.persist(() => limiter.admit(wanted, stop), stop);
  const mayProbe = async () =>
    probe === undefined || !breaker || (await patience.persist(() => breaker.mayStillProbe(probe)));
  if (admitted > 0 && sender.mayLeave() && (await mayProbe())) return admitted;
  await patience.persist(() => limiter.spend({ admitted, claimed: 0, recipients: 0 }));
  if (probe !== undefined) await patience.persist(async () => breaker?.notTried(probe));
  return 0;
}

/** Requests whose files cannot be loaded are given back: left as `sending`, they would be in doubt, with no byte sent. */
async function loadOrRelease(
  { source, sender, files, patience }: Pick<Sent, 'source' | 'sender' | 'files' | 'patience'>,
  claimed: readonly ClaimedRequest[],
): Promise<FileContents> {
  try {
    return await patience.persist(() => files.load(claimed));
  } catch (error) {
    await source.release(sender, claimed, 'files_unread');
    throw error;
  }
}

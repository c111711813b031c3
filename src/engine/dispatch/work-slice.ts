import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { ClaimedRequest } from '../../ledger/requests/claimed.ts';
import type { Settled } from '../../ledger/requests/settlement.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import { pass } from '../points.ts';
import { openBell } from './bell.ts';
import type { Checkpointer } from './checkpoint.ts';
import { openOrdinaryRequests } from './ordinary-requests.ts';
import type { Patience } from './patience.ts';
import type { Recorder } from './recorder.ts';
import type { RequestSource } from './request-source.ts';
import { openRowRequests } from './row-requests.ts';
import type { FileContents, RunFiles } from './run-files.ts';
import type { Sender } from './try-once.ts';

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
 * the outcomes; the next batch is claimed when all of this one are in flight. Ends when nothing is planned, when its window
 * shuts, or when it is to stop, with everything recorded that had begun.
 *
 * After a kill, every claimed request is in doubt. So a batch is no larger than the number of requests in flight, and
 * nothing is claimed while more than twice as many are not recorded; and the account's rate is asked before the claim.
 *
 * @throws Error when the ledger fails otherwise than by being away
 */
export async function workSlice(work: SliceWork): Promise<void> {
  const { patience, recorder, concurrency, slice } = work;
  const halted = new AbortController();
  const stop = AbortSignal.any([work.sender.stop, halted.signal]);
  const sender = { ...work.sender, stop };
  const inFlight = pLimit(concurrency);
  const room = openBell();
  const sending = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  const fail = (error: unknown): void => {
    failure ??= { error };
    halted.abort();
  };
  const checkpoint = work.checkpointer.open(slice, {
    onAccepted({ messageId }) {
      work.onSettled(messageId, 'accepted');
      ringIfRoom();
    },
    onFailed: fail,
    recorder,
  });
  const hasRoom = (): boolean =>
    inFlight.pendingCount === 0 && sending.size + checkpoint.unrecorded() <= 2 * concurrency;
  const ringIfRoom = (): void => {
    if (hasRoom()) room.ring();
  };

  async function send(
    source: RequestSource,
    claimed: ClaimedRequest,
    contents: FileContents,
    probe: boolean,
  ) {
    try {
      const settlement = await inFlight(() => {
        ringIfRoom();
        return source.send(sender, { claimed, contents, probe });
      });
      const isRefused = settlement?.state === 'planned' && settlement.verdict === 'unauthorized';
      if (isRefused && !halted.signal.aborted) {
        work.onRefused(settlement.detail ?? '');
        halted.abort();
      }
    } catch (error) {
      fail(error);
    }
  }

  function begin(
    source: RequestSource,
    claimed: ClaimedRequest,
    contents: FileContents,
    probe: boolean,
  ): void {
    const sent = send(source, claimed, contents, probe).then(() => {
      sending.delete(sent);
      ringIfRoom();
    });
    sending.add(sent);
  }

  /** @returns false when there is nothing more to send of the slice now */
  async function sendFrom(source: RequestSource): Promise<boolean> {
    for (;;) {
      while (!stop.aborted && !hasRoom()) await room.wait(1_000, stop);
      if (stop.aborted || !sender.mayLeave()) return false;
      // What is not there is not waited for: at a low rate, a slice would end late.
      const wanted = await source.available(concurrency, stop);
      if (wanted === 0) return true;
      const entry = await mayEnter(work, stop);
      if (entry === 'no') return false;
      const probe = entry === 'probe';
      const admitted = await admit(work, probe ? 1 : wanted, stop, probe);
      if (admitted === 0) return false;
      pass('claiming', slice.run);
      const claimed = await source.claim(admitted, stop);
      pass('claimed', slice.run);
      const recipients = claimed.reduce((sum, { destinations }) => sum + destinations.length, 0);
      await patience.persist(() => sender.limiter.spend({ admitted, claimed: claimed.length, recipients }));
      const contents = await loadOrRelease(work, source, claimed);
      if (probe && claimed.length === 0) await patience.persist(async () => sender.breaker?.notTried());
      for (const request of claimed) begin(source, request, contents, probe);
    }
  }

  const tools = { ...work, context: sender.context };
  for (const open of [openOrdinaryRequests, openRowRequests]) {
    const source = open(tools, checkpoint);
    const isDone = await sendFrom(source).catch(fail);
    await Promise.all(sending);
    await source.end(sender).catch(fail);
    if (failure) throw failure.error;
    if (!isDone) break;
  }
}

/** Waits while the service refuses everything. @returns `probe`: one request may try it again */
async function mayEnter(
  { sender, patience, givesUp }: SliceWork,
  stop: AbortSignal,
): Promise<'all' | 'probe' | 'no'> {
  while (!stop.aborted) {
    const { breaker } = sender;
    if (!breaker) return 'all';
    const entry = await patience.persist(breaker.enter);
    if (typeof entry === 'string') return entry;
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
  probe: boolean,
): Promise<number> {
  const { limiter, breaker } = sender;
  const admitted = await patience.persist(() => limiter.admit(wanted, stop), stop);
  if (admitted > 0 && sender.mayLeave()) return admitted;
  await patience.persist(() => limiter.spend({ admitted, claimed: 0, recipients: 0 }));
  if (probe) await patience.persist(async () => breaker?.notTried());
  return 0;
}

/** Requests whose files cannot be loaded are given back: left as `sending`, they would be in doubt, with no byte sent. */
async function loadOrRelease(
  { sender, files, patience }: SliceWork,
  source: RequestSource,
  claimed: readonly ClaimedRequest[],
): Promise<FileContents> {
  try {
    return await patience.persist(() => files.load(claimed));
  } catch (error) {
    await source.release(sender, claimed, 'its files could not be read from the ledger');
    throw error;
  }
}

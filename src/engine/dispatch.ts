import pLimit from 'p-limit';
import type { RequestState } from '../domain.ts';
import { type ClaimedRequest, claimRequests } from '../ledger/requests/claim.ts';
import { type Settlement, settleRequests } from '../ledger/requests/settle.ts';
import { openRecorder, type Recorder } from './recorder.ts';
import type { FileContents, RunFiles } from './run-files.ts';
import { type Sender, sendRequest } from './send-request.ts';

/** How a dispatch ended. `drained`: it was asked to stop, and every request that had begun is recorded. */
export type DispatchEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'drained' }
  | { readonly kind: 'refused'; readonly words: string };

export type OnSettled = (state: RequestState, recipients: number) => void;

/**
 * Sends every planned request of a run: claims a batch, sends it, records the outcomes; the next batch is claimed while
 * this one is in flight. Stops by itself when the service refuses the credential. A batch may be cancelled as it is
 * claimed, in part or altogether, and there may still be more to send.
 *
 * A batch is no larger than the number of requests in flight: after a kill, every claimed request is in doubt, so no
 * more are claimed than can be sent at once.
 */
export async function dispatch(
  sender: Omit<Sender, 'stop'>,
  files: RunFiles,
  concurrency: number,
  stop: AbortSignal,
  onSettled: OnSettled,
): Promise<DispatchEnd> {
  const { context, run, owner } = sender;
  const refused = new AbortController();
  let words = '';
  const halt = AbortSignal.any([stop, refused.signal]);
  const inFlight = pLimit(concurrency);
  const recorder = openRecorder(context.ledger.pool, run, owner);

  const handle = async (claimed: ClaimedRequest, contents: FileContents): Promise<void> => {
    const settlement = await inFlight(() => sendRequest({ ...sender, stop: halt }, claimed, contents));
    if (!settlement) return;
    if (settlement.state === 'planned' && settlement.verdict === 'unauthorized') {
      words = settlement.detail ?? '';
      refused.abort();
    }
    await report(recorder, settlement, claimed, onSettled);
  };

  const batches: Promise<void>[] = [];
  try {
    while (!halt.aborted) {
      const { claimed, cancelled } = await claimRequests(context.ledger.pool, {
        run,
        owner,
        limit: concurrency,
        now: context.now(),
      });
      for (const { recipients } of cancelled) onSettled('cancelled', recipients);
      if (claimed.length + cancelled.length === 0) break;
      const contents = await loadOrRelease(sender, files, claimed);
      const batch = Promise.all(claimed.map((request) => handle(request, contents))).then(() => undefined);
      // A failed batch is met where it is awaited; until then it must not count as unhandled.
      batch.catch(() => undefined);
      batches.push(batch);
      if (batches.length === 2) await batches.shift();
    }
    await Promise.all(batches);
  } catch (error) {
    refused.abort();
    await Promise.allSettled(batches);
    throw error;
  }
  if (refused.signal.aborted) return { kind: 'refused', words };
  return stop.aborted ? { kind: 'drained' } : { kind: 'finished' };
}

/** Requests whose files cannot be loaded are given back: left as `sending`, they would be in doubt, with no byte sent. */
async function loadOrRelease(
  { context, run, owner }: Omit<Sender, 'stop'>,
  files: RunFiles,
  claimed: readonly ClaimedRequest[],
): Promise<FileContents> {
  try {
    return await files.load(claimed);
  } catch (error) {
    const finishedAt = context.now();
    const released = claimed.map(({ request, attempt }): Settlement => {
      const detail = 'its files could not be read from the ledger';
      return {
        request,
        attempt,
        finishedAt,
        httpStatus: null,
        detail,
        state: 'planned',
        verdict: 'released',
      };
    });
    // Where the ledger is lost altogether this fails too; why it began is told, and they are in doubt after all.
    await settleRequests(context.ledger.pool, run, owner, released).catch(() => undefined);
    throw error;
  }
}

async function report(
  recorder: Recorder,
  settlement: Settlement,
  claimed: ClaimedRequest,
  onSettled: OnSettled,
): Promise<void> {
  const settled = await recorder.record(settlement);
  if (settled) onSettled(settlement.state, claimed.destinations.length);
}

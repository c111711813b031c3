import pLimit from 'p-limit';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { trace } from '../trace-points.ts';
import { type Admission, type Admitted, admitRequests } from './admit-requests.ts';
import type { PreparedRequest } from './attempt-once.ts';
import type { Checkpointer, SliceCheckpoint } from './checkpointer.ts';
import { createRangeSource } from './range-source.ts';
import { createRowSource, type RequestSource, type SliceWork } from './request-source.ts';
import type { FileContents, LoadFiles } from './run-files.ts';
import { createWakeup } from './wakeup.ts';

export type WholeSlice = SliceWork &
  Pick<Admitted, 'giveUpIfRefused'> & {
    readonly checkpointer: Checkpointer;
    readonly loadFiles: LoadFiles;
    readonly onRefused: (words: string) => void;
  };

/**
 * Sends the planned requests of a held slice until none is left, its window closes, or `stop`. The next batch is
 * claimed while one is in flight. Every outcome is recorded at the end.
 *
 * @throws Error if the ledger fails, other than by an outage
 */
export async function workSlice(work: WholeSlice): Promise<void> {
  const { stop } = work;
  const halted = new AbortController();
  const halt = (): void => halted.abort();
  // Each read of a composed signal checks all its sources.
  if (stop.aborted) halt();
  stop.addEventListener('abort', halt, { once: true });
  try {
    await sendAll({ ...work, stop: halted.signal }, halt);
  } finally {
    stop.removeEventListener('abort', halt);
  }
}

async function sendAll(work: WholeSlice, halt: () => void): Promise<void> {
  const { record, slice, addressCheck, onSettled } = work;
  const room = createWakeup();
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    halt();
  };
  const onRefused = (words: string): void => {
    if (!failure) work.onRefused(words);
    halt();
  };
  const checkpoint = work.checkpointer(slice, {
    onAccepted({ messageId }) {
      onSettled(messageId, 'accepted');
      room.signal();
    },
    onFailed: fail,
    record,
  });
  const reservations = addressCheck.join(room.signal);
  try {
    for (const open of [createRangeSource, createRowSource]) {
      const source = open(work, checkpoint);
      const isDone = await sendFromSource({
        ...work,
        source,
        checkpoint,
        room,
        reservations,
        onRefused,
        fail,
      });
      await source.end().catch(fail);
      if (failure) throw failure.error;
      if (!isDone) break;
    }
  } finally {
    reservations.leave();
  }
}

type Sending = WholeSlice &
  Admitted & {
    readonly source: RequestSource;
    readonly checkpoint: SliceCheckpoint;
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
async function sendFromSource(sending: Sending): Promise<boolean> {
  const { source, checkpoint, room, reservations, fail, stop } = sending;
  const { concurrency } = sending.settings;
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
      if (stop.aborted || !sending.isWindowOpen()) return false;
      // Asks for no more permits than there are requests. Otherwise, at a low rate, the slice would end late.
      const available = await source.available(concurrency + claimAhead());
      if (available === 0) return true;
      const admission = await admitRequests(available, sending);
      if (!admission) return false;
      const before = answered;
      const claiming = claim(sending, admission);
      signalIfRoom();
      const claimed = await claiming;
      reservations.release(admission.reserved - claimed.length);
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

async function claim(sending: Sending, { admitted, probe }: Admission): Promise<readonly PreparedRequest[]> {
  const { source, slice, outageRetry, limiter, breaker } = sending;
  trace('claiming', slice.run);
  const claimed = await source.claim(admitted);
  trace('claimed', slice.run);
  const recipients = claimed.reduce((sum, { destinations }) => sum + destinations.count, 0);
  await outageRetry.retry(() => limiter.spend({ admitted, claimed: claimed.length, recipients }));
  if (probe !== undefined && claimed.length === 0)
    await outageRetry.retry(async () => breaker?.releaseProbe(probe));
  const contents = await loadOrRelease(sending, claimed);
  return claimed.map((each): PreparedRequest => ({ claimed: each, contents, probe }));
}

async function sendOne({ source, onRefused, fail }: Sending, prepared: PreparedRequest): Promise<void> {
  try {
    const settlement = await source.send(prepared);
    const isRefused = settlement?.state === 'planned' && settlement.verdict === 'unauthorized';
    if (isRefused) onRefused(formatReasonOrNull(settlement.detail) ?? '');
  } catch (error) {
    fail(error);
  }
}

/**
 * Loads the files of claimed requests, or releases the requests. They would be in doubt otherwise, although no byte was
 * sent.
 */
async function loadOrRelease(
  { source, outageRetry, loadFiles }: Sending,
  claimed: readonly ClaimedRequest[],
): Promise<FileContents> {
  try {
    return await outageRetry.retry(() => loadFiles(claimed));
  } catch (error) {
    await source.release(claimed, 'files_unread');
    throw error;
  }
}

/**
 * Works items in order, some at once. p-limit holds how many: it runs lanes, and a lane works one item after another.
 * With a call of p-limit for each item, dispatch took 4 % more processor time.
 *
 * @param work never rejects
 */
export function createLanes<Item>(concurrency: number, work: (item: Item) => Promise<void>) {
  const limit = pLimit(concurrency);
  const waiting: Item[] = [];
  let allEnded = Promise.resolve();

  async function workWaiting(): Promise<void> {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  }

  async function startLanes(wanted: number, earlier: Promise<void>): Promise<void> {
    await Promise.all([earlier, ...Array.from({ length: wanted }, () => limit(workWaiting))]);
  }

  return {
    add(items: readonly Item[]): void {
      waiting.push(...items);
      // A lane that has yet to start works what is added later too. As many as can run at once are enough.
      allEnded = startLanes(Math.min(items.length, limit.concurrency - limit.pendingCount), allEnded);
    },
    waiting: () => waiting.length,
    /** Resolves when all is done that was added so far. */
    whenIdle: () => allEnded,
  };
}

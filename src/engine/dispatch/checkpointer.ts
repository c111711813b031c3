import { advanceSlices, type RangeClaim } from '../../ledger/requests/advance.ts';
import { type ClaimedRows, claimRows, type RowsClaim } from '../../ledger/requests/claim-rows.ts';
import { releaseUnacknowledgedClaims } from '../../ledger/requests/release-claims.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import type { Checkpointer } from './checkpoint.ts';
import {
  addAccepted,
  type CheckpointState,
  completeAdvance,
  createCheckpointState,
  extractAdvance,
  failCheckpoint,
} from './checkpoint-state.ts';
import { createClaimFence } from './claim-fence.ts';
import type { OutageRetry } from './outage-retry.ts';

/** A commit waits for more until this time (milliseconds) or this many accepted requests. */
const maxWait = 4;
const acceptedPerCommit = 64;

/**
 * Lets all slices of a process share commits, one after the other. A commit takes half a millisecond of processor
 * time
 * however small it is. So claims and accepted requests wait a moment for more. A flushed claim is committed at once,
 * with
 * all that waits.
 *
 * Claims are marked outside of the ledger before any of their requests is sent. The next claim is committed only in a
 * ledger that has them.
 *
 * @param ledger its id when the worker started
 */
export function createCheckpointer(
  context: EngineContext,
  outageRetry: OutageRetry,
  ledger: string,
): Checkpointer {
  const { hot, pool, hashKey } = context.ledger;
  const fence = createClaimFence(context, outageRetry, ledger);
  const { retry } = outageRetry;

  const schedule = createCommitSchedule(async (states) => {
    const now = context.now();
    const advances = states.map(extractAdvance);
    for (const { run, accepted } of advances)
      for (const { request } of accepted) trace('recording', run, request);
    const results = await retry(() => advanceSlices(hot, advances, now, fence.current()));
    const claiming = advances.filter(({ claim }) => claim);
    const granted = advances.filter(({ claim }, index) => claim && results[index] === 'granted');
    if (granted.length > 0) fence.markClaims(granted, now);
    else if (claiming.length > 0) await fence.refresh();
    for (const [index, state] of states.entries()) {
      const [advance, result] = [advances[index], results[index]];
      if (advance && result) completeAdvance(state, advance, result);
    }
  });

  function claimRange(state: CheckpointState, claim: RangeClaim): Promise<boolean> {
    if (state.failure) return Promise.reject(state.failure.error);
    const pending = { ...claim, ...Promise.withResolvers<boolean>() };
    state.claim = pending;
    schedule.add(state, 0);
    return pending.promise;
  }

  /** A claim may be committed although its answer was lost. It is returned before the retry. */
  async function claimRowsOfSlice(
    state: CheckpointState,
    claim: Pick<RowsClaim, 'from' | 'limit'>,
    known: readonly number[],
  ): Promise<ClaimedRows> {
    const { slice } = state;
    const now = context.now();
    let isRepeated = false;
    const claimed = await retry(async () => {
      if (isRepeated) {
        state.version =
          (await releaseUnacknowledgedClaims(pool, slice, known, context.now())) ?? state.version;
      }
      isRepeated = true;
      const rowsClaim = { ...slice, ...claim, version: state.version + 1 };
      return claimRows(hot, rowsClaim, now, hashKey, fence.current());
    });
    if (claimed.kind === 'refused') await fence.refresh();
    else fence.markClaims([{ ...slice, version: ++state.version }], now);
    return claimed;
  }

  return {
    open(slice, options) {
      const state = createCheckpointState(slice, options);
      const flush = (): void => schedule.flush(state);
      return {
        claim: (claim) => claimRange(state, claim),
        flush,
        async returnClaim(back) {
          flush();
          await claimRange(state, { ...back, epoch: '0' });
        },
        claimRows: (claim, known) =>
          new Promise((resolve, reject) => {
            schedule.runBetweenCommits(() => claimRowsOfSlice(state, claim, known).then(resolve, reject));
          }),
        accept(accepted) {
          addAccepted(state, accepted);
          if (!state.failure) schedule.add(state, 1);
        },
        unrecorded: () => state.unrecorded,
        async whenRecorded() {
          while (state.unrecorded > 0 && !state.failure) await state.allRecorded.wait(1_000);
        },
      };
    },
  };
}

type CommitSchedule = {
  /** @param accepted how many more accepted requests it has */
  readonly add: (state: CheckpointState, accepted: number) => void;
  readonly flush: (state: CheckpointState) => void;
  readonly runBetweenCommits: (task: () => Promise<void>) => void;
};

/** Decides when to commit; never two commits at once. */
function createCommitSchedule(commit: (states: readonly CheckpointState[]) => Promise<void>): CommitSchedule {
  const changed = new Set<CheckpointState>();
  const tasks: (() => Promise<void>)[] = [];
  let accepted = 0;
  let isOverdue = false;
  let running = false;
  let timer: NodeJS.Timeout | undefined;

  const isDue = (): boolean =>
    isOverdue ||
    accepted >= acceptedPerCommit ||
    [...changed].some(({ claim, flushRequested }) => claim && flushRequested);

  async function run(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    running = true;
    for (;;) {
      const turn = tasks.shift();
      if (turn) await turn();
      if (changed.size > 0 && (turn || isDue())) {
        const states = [...changed];
        changed.clear();
        accepted = 0;
        isOverdue = false;
        await commit(states).catch((error: unknown) => {
          for (const state of states) failCheckpoint(state, error);
        });
      } else if (tasks.length === 0) break;
    }
    running = false;
    if (changed.size > 0) startTimer();
  }

  function startTimer(): void {
    timer ??= setTimeout(() => {
      isOverdue = true;
      void run();
    }, maxWait);
  }

  function runIfDue(): void {
    if (running) return;
    if (isDue()) void run();
    else startTimer();
  }

  return {
    add(state, count) {
      changed.add(state);
      accepted += count;
      runIfDue();
    },
    flush(state) {
      if (state.flushRequested) return;
      state.flushRequested = true;
      if (changed.has(state)) runIfDue();
    },
    runBetweenCommits(task) {
      tasks.push(task);
      if (!running) void run();
    },
  };
}

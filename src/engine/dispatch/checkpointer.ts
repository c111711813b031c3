import { advanceSlices, type RangeClaim } from '../../ledger/requests/advance.ts';
import { type ClaimedRows, claimRows, type RowsClaim } from '../../ledger/requests/claim-rows.ts';
import { releaseUnacknowledgedClaims } from '../../ledger/requests/release.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import {
  type AcceptedAttempt,
  addAccepted,
  type CheckpointOptions,
  type CheckpointState,
  completeAdvance,
  createCheckpointState,
  extractAdvance,
  failCheckpoint,
} from './checkpoint.ts';
import { type CurrentClaimFence, createClaimFence } from './ledger-location.ts';
import type { OutageRetry } from './outage-retry.ts';

/** Opens the part of one slice. */
export type Checkpointer = ReturnType<typeof createCheckpointer>;

/** How the sources of a slice claim and record. */
export type SliceCheckpoint = ReturnType<Checkpointer>;

/**
 * A group commit: all slices of a process share commits of claims and accepted requests. A commit takes half a
 * millisecond of processor time however small it is, so they wait a moment for more, until the code that sends a slice
 * calls `flush`.
 *
 * Claims are marked outside of the ledger before any of their requests is sent. A claim is committed only if the ledger
 * still contains the last marked one; otherwise it was restored from a backup. Accepted requests of a slice that has
 * another owner by now are settled one by one (`completeAdvance`).
 *
 * @param ledger the id of the ledger when the worker started
 */
export function createCheckpointer(context: EngineContext, outageRetry: OutageRetry, ledger: string) {
  const fence = createClaimFence(context, outageRetry, ledger);
  const writer: Writer = { context, outageRetry, fence };
  const commits = createCommitSchedule((states) => commit(writer, states));

  function claimRange(state: CheckpointState, claim: RangeClaim): Promise<boolean> {
    if (state.failure) return Promise.reject(state.failure.error);
    const pending = { ...claim, ...Promise.withResolvers<boolean>() };
    state.claim = pending;
    commits.add(state, 0);
    return pending.promise;
  }

  return (slice: SendingSlice, options: CheckpointOptions) => {
    const state = createCheckpointState(slice, options);
    /** Commits the waiting or next claim at once. */
    const flush = (): void => commits.flush(state);
    return {
      /**
       * Waits a moment for claims of other slices.
       *
       * @returns false if refused: the run is not running, or what was read is stale
       */
      claim: (claim: RangeClaim): Promise<boolean> => claimRange(state, claim),
      flush,
      /** Releases claimed requests after `to`, of which no byte has left. */
      async releaseClaim(range: Omit<RangeClaim, 'epoch'>): Promise<void> {
        flush();
        await claimRange(state, { ...range, epoch: noEpoch });
      },
      /** @param unrecorded claimed requests without a recorded outcome */
      claimRows: (claim: WantedRows, unrecorded: readonly number[]): Promise<ClaimedRows> =>
        new Promise((resolve, reject) => {
          commits.runBetweenCommits(() =>
            claimRowsOfSlice(writer, state, claim, unrecorded).then(resolve, reject),
          );
        }),
      accept(accepted: AcceptedAttempt): void {
        addAccepted(state, accepted);
        if (!state.failure) commits.add(state, 1);
      },
      unrecorded: (): number => state.unrecorded,
      /** Resolves after a failure too, which the caller gets elsewhere. */
      async whenRecorded(): Promise<void> {
        while (state.unrecorded > 0 && !state.failure) await state.allRecorded.wait(1_000);
      },
    };
  };
}

type WantedRows = Pick<RowsClaim, 'from' | 'limit'>;

/** A claim that releases requests needs no look at suppressions. */
const noEpoch = '0';

type Writer = {
  readonly context: EngineContext;
  readonly outageRetry: OutageRetry;
  readonly fence: CurrentClaimFence;
};

async function commit(
  { context, outageRetry, fence }: Writer,
  states: readonly CheckpointState[],
): Promise<void> {
  const now = context.now();
  const advances = states.map(extractAdvance);
  for (const { run, accepted } of advances)
    for (const { request } of accepted) trace('recording', run, request);
  const results = await outageRetry.retry(() =>
    advanceSlices(context.ledger.hot, advances, now, fence.current()),
  );
  const claiming = advances.filter(({ claim }) => claim);
  const granted = advances.filter(({ claim }, index) => claim && results[index] === 'granted');
  if (granted.length > 0) fence.markClaims(granted, now);
  else if (claiming.length > 0) await fence.refresh();
  for (const [index, state] of states.entries()) {
    const [advance, result] = [advances[index], results[index]];
    if (advance && result) completeAdvance(state, advance, result);
  }
}

/** A claim whose commit was not acknowledged is released before the retry. */
async function claimRowsOfSlice(
  { context, outageRetry, fence }: Writer,
  state: CheckpointState,
  claim: WantedRows,
  unrecorded: readonly number[],
): Promise<ClaimedRows> {
  const { hot, pool } = context.ledger;
  const { slice } = state;
  const now = context.now();
  let isRepeated = false;
  const claimed = await outageRetry.retry(async () => {
    if (isRepeated) {
      const version = await releaseUnacknowledgedClaims(pool, slice, unrecorded, context.now());
      state.version = version ?? state.version;
    }
    isRepeated = true;
    const rowsClaim = { ...slice, ...claim, version: state.version + 1 };
    return claimRows(hot, rowsClaim, { now, key: context.ledger.hashKey, fence: fence.current() });
  });
  if (claimed.kind === 'refused') await fence.refresh();
  else fence.markClaims([{ ...slice, version: ++state.version }], now);
  return claimed;
}

/** A commit waits for this time (milliseconds) or this many accepted requests. */
const maxWait = 4;
const acceptedPerCommit = 64;

/** Commits one after the other, and between two commits one claim of requests with rows. */
function createCommitSchedule(commit: (states: readonly CheckpointState[]) => Promise<void>) {
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
    add(state: CheckpointState, count: number): void {
      changed.add(state);
      accepted += count;
      runIfDue();
    },
    flush(state: CheckpointState): void {
      if (state.flushRequested) return;
      state.flushRequested = true;
      if (changed.has(state)) runIfDue();
    },
    runBetweenCommits(task: () => Promise<void>): void {
      tasks.push(task);
      if (!running) void run();
    },
  };
}

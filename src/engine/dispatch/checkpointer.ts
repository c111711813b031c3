import {
  type Advance,
  type Advanced,
  advanceSlices,
  type RangeClaim,
} from '../../ledger/requests/advance.ts';
import { type ClaimedRows, claimRows, type RowsClaim } from '../../ledger/requests/claim-rows.ts';
import { takeBackUnanswered } from '../../ledger/requests/take-back.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import { openBell } from './bell.ts';
import type { AcceptedAttempt, Checkpointer, CheckpointOptions } from './checkpoint.ts';
import { openClaimFence } from './claim-fence.ts';
import type { Patience } from './patience.ts';

/** Accepted requests wait for others so long (milliseconds), or until there are so many. */
const longestWait = 4;
const enough = 64;

type PendingClaim = RangeClaim & PromiseWithResolvers<boolean>;

type SliceAdvance = Advance & {
  readonly claim: PendingClaim | undefined;
  readonly accepted: readonly AcceptedAttempt[];
};

type State = {
  readonly slice: SendingSlice;
  readonly options: CheckpointOptions;
  version: number;
  accepted: AcceptedAttempt[];
  /** Accepted, and not committed. */
  unrecorded: number;
  /** Rings when that is none. */
  readonly recorded: ReturnType<typeof openBell>;
  failed: boolean;
  claim: PendingClaim | undefined;
};

/**
 * Lets all slices of a process share commits, one after the other. A claim is committed at once, and with it what was
 * accepted until then; what was accepted waits a moment for more, since a commit costs half a millisecond of processor
 * time however little it is for.
 *
 * What was claimed is marked outside of the ledger before anything of it is sent, and the next claim is committed only
 * where the ledger has it.
 *
 * @param ledger as it was found when the worker started
 */
export function openCheckpointer(context: EngineContext, patience: Patience, ledger: string): Checkpointer {
  const { hot, pool, hashKey } = context.ledger;
  const fence = openClaimFence(context, patience, ledger);
  const { persist } = patience;
  const changed = new Set<State>();
  const turns: (() => Promise<void>)[] = [];
  let waiting = 0;
  let committing = false;
  let timer: NodeJS.Timeout | undefined;

  async function commit(states: readonly State[]): Promise<void> {
    const now = context.now();
    const advances = states.map(takeAdvance);
    for (const { run, accepted } of advances)
      for (const { request } of accepted) pass('recording', run, request);
    const results = await persist(() => advanceSlices(hot, advances, now, fence.current()));
    const asked = advances.filter(({ claim }) => claim);
    const granted = advances.filter(({ claim }, index) => claim && results[index] === 'granted');
    if (granted.length > 0) fence.note(granted, now);
    else if (asked.length > 0) await fence.lookAgain();
    for (const [index, state] of states.entries()) {
      const [advance, result] = [advances[index], results[index]];
      if (advance && result) conclude(state, advance, result);
    }
  }

  function takeAdvance(state: State): SliceAdvance {
    const { slice, accepted, claim } = state;
    state.accepted = [];
    const { run, slice: number, owner } = slice;
    return { run, slice: number, owner, version: state.version + 1, claim, accepted };
  }

  function conclude(state: State, { version, claim, accepted }: SliceAdvance, result: Advanced): void {
    if (result === 'lost') for (const each of accepted) void settleLate(state, each);
    else {
      state.version = version;
      for (const each of accepted) note(state, each);
    }
    if (!claim || state.claim !== claim) return;
    state.claim = undefined;
    claim.resolve(result === 'granted');
  }

  function note(state: State, accepted: AcceptedAttempt): void {
    pass('recorded', state.slice.run, accepted.request);
    count(state, -1);
    state.options.onAccepted(accepted);
  }

  /** The worker that took the slice over has put the request in doubt; its answer settles it all the same. */
  async function settleLate(
    state: State,
    { request, finishedAt, httpStatus, job }: AcceptedAttempt,
  ): Promise<void> {
    const { run, slice, owner } = state.slice;
    const detail = job === undefined ? null : `job ${job}`;
    const accepted = { state: 'accepted', ...(job === undefined ? {} : { job }) } as const;
    await state.options.recorder
      .record({
        run,
        slice,
        owner,
        request,
        ...accepted,
        attempt: 1,
        finishedAt: new Date(finishedAt),
        httpStatus,
        detail,
      })
      .catch(state.options.onFailed);
    count(state, -1);
  }

  function count(state: State, change: number): void {
    state.unrecorded += change;
    if (state.unrecorded === 0) state.recorded.ring();
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    committing = true;
    for (;;) {
      const turn = turns.shift();
      if (turn) await turn();
      const states = [...changed];
      if (states.length > 0 && (waiting >= enough || turn || states.some(({ claim }) => claim))) {
        changed.clear();
        waiting = 0;
        await commit(states).catch((error: unknown) => fail(states, error));
      } else if (turns.length === 0) break;
    }
    committing = false;
    if (changed.size > 0) timer = setTimeout(commitWaiting, longestWait);
  }

  /** What has waited long enough. */
  function commitWaiting(): void {
    waiting = enough;
    if (!committing) void run();
  }

  function fail(states: readonly State[], error: unknown): void {
    for (const state of states) {
      state.failed = true;
      state.claim?.reject(error);
      state.claim = undefined;
      state.recorded.ring();
      state.options.onFailed(error);
    }
  }

  function request(state: State, urgent: boolean): void {
    changed.add(state);
    if (committing) return;
    if (urgent || waiting >= enough) void run();
    else timer ??= setTimeout(commitWaiting, longestWait);
  }

  function claimRange(state: State, claim: RangeClaim): Promise<boolean> {
    const pending = { ...claim, ...Promise.withResolvers<boolean>() };
    state.claim = pending;
    request(state, true);
    return pending.promise;
  }

  /** A claim that was committed though its answer was lost is taken back before it is tried again. */
  async function claimRowsOf(
    state: State,
    claim: Pick<RowsClaim, 'from' | 'limit'>,
    known: readonly number[],
  ): Promise<ClaimedRows> {
    const { slice } = state;
    const now = context.now();
    let isRepeated = false;
    const claimed = await persist(async () => {
      if (isRepeated) {
        state.version = (await takeBackUnanswered(pool, slice, known, context.now())) ?? state.version;
      }
      isRepeated = true;
      return claimRows(
        hot,
        { ...slice, ...claim, version: state.version + 1 },
        now,
        hashKey,
        fence.current(),
      );
    });
    if (claimed.kind === 'refused') await fence.lookAgain();
    else fence.note([{ run: slice.run, slice: slice.slice, version: ++state.version }], now);
    return claimed;
  }

  return {
    open(slice, options) {
      const state: State = {
        ...{ slice, options, version: slice.version, accepted: [], unrecorded: 0, failed: false },
        recorded: openBell(),
        claim: undefined,
      };
      return {
        claim: (claim) => claimRange(state, claim),
        giveBack: async (to) => void (await claimRange(state, { to, epoch: '0' })),
        claimRows: (claim, known) =>
          new Promise((resolve, reject) => {
            turns.push(() => claimRowsOf(state, claim, known).then(resolve, reject));
            if (!committing) void run();
          }),
        accept(accepted) {
          state.accepted.push(accepted);
          count(state, 1);
          waiting++;
          request(state, false);
        },
        unrecorded: () => state.unrecorded,
        async recorded() {
          while (state.unrecorded > 0 && !state.failed) await state.recorded.wait(1_000);
        },
      };
    },
  };
}

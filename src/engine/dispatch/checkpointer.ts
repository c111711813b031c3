import { advanceSlices, type RangeClaim } from '../../ledger/requests/advance.ts';
import { type ClaimedRows, claimRows, type RowsClaim } from '../../ledger/requests/claim-rows.ts';
import { takeBackUnanswered } from '../../ledger/requests/take-back.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import type { Checkpointer } from './checkpoint.ts';
import {
  addAccepted,
  type CheckpointState,
  conclude,
  fail,
  openCheckpointState,
  takeAdvance,
} from './checkpoint-state.ts';
import { openClaimFence } from './claim-fence.ts';
import type { Patience } from './patience.ts';

/** Claims and accepted requests wait for others so long (milliseconds), or until so many were accepted. */
const longestWait = 4;
const enough = 64;

/**
 * Lets all slices of a process share commits, one after the other. A commit costs half a millisecond of processor time
 * however little it is for, so a claim that is made ahead of time and what was accepted wait a moment for more; a claim that
 * is hurried is committed at once, and with it all that waits.
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

  const schedule = openSchedule(async (states) => {
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
  });

  function claimRange(state: CheckpointState, claim: RangeClaim): Promise<boolean> {
    if (state.failure) return Promise.reject(state.failure.error);
    const pending = { ...claim, ...Promise.withResolvers<boolean>() };
    state.claim = pending;
    schedule.add(state, 0);
    return pending.promise;
  }

  /** A claim that was committed though its answer was lost is taken back before it is tried again. */
  async function claimRowsOf(
    state: CheckpointState,
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
      const wanted = { ...slice, ...claim, version: state.version + 1 };
      return claimRows(hot, wanted, now, hashKey, fence.current());
    });
    if (claimed.kind === 'refused') await fence.lookAgain();
    else fence.note([{ ...slice, version: ++state.version }], now);
    return claimed;
  }

  return {
    open(slice, options) {
      const state = openCheckpointState(slice, options);
      const hurry = (): void => schedule.hurry(state);
      return {
        claim: (claim) => claimRange(state, claim),
        hurry,
        async giveBack(back) {
          hurry();
          await claimRange(state, { ...back, epoch: '0' });
        },
        claimRows: (claim, known) =>
          new Promise((resolve, reject) => {
            schedule.takeTurn(() => claimRowsOf(state, claim, known).then(resolve, reject));
          }),
        accept(accepted) {
          addAccepted(state, accepted);
          if (!state.failure) schedule.add(state, 1);
        },
        unrecorded: () => state.unrecorded,
        async recorded() {
          while (state.unrecorded > 0 && !state.failure) await state.recorded.wait(1_000);
        },
      };
    },
  };
}

type Schedule = {
  /** @param accepted how many requests more there are to be written of it */
  readonly add: (state: CheckpointState, accepted: number) => void;
  readonly hurry: (state: CheckpointState) => void;
  /** Does something else between two commits. */
  readonly takeTurn: (turn: () => Promise<void>) => void;
};

/** When what is committed, one commit after the other. */
function openSchedule(commit: (states: readonly CheckpointState[]) => Promise<void>): Schedule {
  const changed = new Set<CheckpointState>();
  const turns: (() => Promise<void>)[] = [];
  let accepted = 0;
  let isLate = false;
  let running = false;
  let timer: NodeJS.Timeout | undefined;

  const isDue = (): boolean =>
    isLate || accepted >= enough || [...changed].some(({ claim, hurried }) => claim && hurried);

  async function run(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    running = true;
    for (;;) {
      const turn = turns.shift();
      if (turn) await turn();
      if (changed.size > 0 && (turn || isDue())) {
        const states = [...changed];
        changed.clear();
        accepted = 0;
        isLate = false;
        await commit(states).catch((error: unknown) => {
          for (const state of states) fail(state, error);
        });
      } else if (turns.length === 0) break;
    }
    running = false;
    if (changed.size > 0) startTimer();
  }

  function startTimer(): void {
    timer ??= setTimeout(() => {
      isLate = true;
      void run();
    }, longestWait);
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
    hurry(state) {
      if (state.hurried) return;
      state.hurried = true;
      if (changed.has(state)) runIfDue();
    },
    takeTurn(turn) {
      turns.push(turn);
      if (!running) void run();
    },
  };
}

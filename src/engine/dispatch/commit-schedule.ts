import { type CheckpointState, failCheckpoint } from './checkpoint-state.ts';

/** A commit waits for this time (milliseconds) or this many accepted requests. */
const maxWait = 4;
const acceptedPerCommit = 64;

export type CommitSchedule = {
  readonly add: (state: CheckpointState, accepted: number) => void;
  readonly flush: (state: CheckpointState) => void;
  readonly runBetweenCommits: (task: () => Promise<void>) => void;
};

/** Commits one after the other. */
export function createCommitSchedule(
  commit: (states: readonly CheckpointState[]) => Promise<void>,
): CommitSchedule {
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

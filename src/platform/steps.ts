import { setTimeout as sleep } from 'node:timers/promises';

/** Work that waits by yielding for how long (milliseconds), so that a process that is ending can do it too. */
export type Steps<Result> = Generator<number, Result, undefined>;

/** Does the work, and lets the process do other things while it waits. */
export async function inSteps<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await sleep(step.value);
  }
}

/** Does the work without returning to the event loop. */
export function inStepsAtExit(steps: Steps<unknown>): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (const milliseconds of steps) Atomics.wait(nothing, 0, 0, milliseconds);
}

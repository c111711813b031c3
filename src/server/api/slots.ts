import { ProblemError } from './problem.ts';

/** Lets so many do something at once, and no more. */
export type Slots = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Reports and plans hold a connection of the ledger as long as they take, a report as long as its reader does. Dispatch
 * and receiver need the others of its ten.
 */
export const mostAtOnce = 3;

/** Seconds. */
const retryAfter = 5;

export function openSlots(most: number): Slots {
  let taken = 0;
  return async (work) => {
    if (taken >= most) {
      const what = `${most} reports or plans are under way here, and more would hold up what is being sent. Try again in a moment.`;
      throw new ProblemError(503, 'busy', what, { headers: { 'retry-after': String(retryAfter) } });
    }
    taken++;
    try {
      return await work();
    } finally {
      taken--;
    }
  };
}

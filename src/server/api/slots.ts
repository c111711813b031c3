import { ProblemError } from './problem.ts';

/** Lets so many do something at once, and no more. */
export type Slots = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** What takes long: a run that is planned, a report that is read. */
export type CallSlots = { readonly plan: Slots; readonly report: Slots };

/**
 * Reports and plans hold a connection of the ledger as long as they take, a report as long as its reader does. Dispatch
 * and receiver need the others of its ten.
 */
const mostAtOnce = 3;

/** One place is left by reports: who may only read does not keep others from starting a run. */
const mostReports = mostAtOnce - 1;

export function openCallSlots(): CallSlots {
  const [plan, reports] = [openSlots(mostAtOnce), openSlots(mostReports)];
  return { plan, report: (work) => reports(() => plan(work)) };
}

/** Seconds. */
const retryAfter = 5;

export function openSlots(most: number): Slots {
  let taken = 0;
  return async (work) => {
    if (taken >= most) {
      const what = `There are as many reports and plans under way here as there may be, and more would hold up what is being sent. Try again in a moment.`;
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

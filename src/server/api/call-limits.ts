import { ProblemError } from './problem.ts';

export type CallLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** What takes long: a run that is planned, a report that is read. */
export type CallLimits = { readonly plan: CallLimit; readonly report: CallLimit };

/**
 * Reports and plans hold a connection of the ledger as long as they take, a report as long as its reader does. Dispatch
 * and receiver need the others of its ten.
 */
const maxCalls = 3;

/** One place is left by reports: who may only read does not keep others from starting a run. */
const maxReports = maxCalls - 1;

export function createCallLimits(wait = defaultWait): CallLimits {
  const [plan, reports] = [createCallLimit(maxCalls, wait), createCallLimit(maxReports, wait)];
  return { plan, report: (work) => reports(() => plan(work)) };
}

/**
 * How long a place is waited for (milliseconds): the one of a report is free a moment after its reader has the end of it, and
 * who reads one after the other is not to be told that somebody is in the way.
 */
const defaultWait = 500;

const retryAfter = 5;

/** @param wait how long, in milliseconds, before a call is told to come again */
export function createCallLimit(maxAtOnce: number, wait = defaultWait): CallLimit {
  let inUse = 0;
  /** In the order in which they came; each takes the place that it is handed. */
  const waiting = new Set<() => void>();
  const waitForTurn = (): Promise<boolean> =>
    new Promise((resolve) => {
      const take = (): void => end(true);
      const timer = setTimeout(() => end(false), wait);
      const end = (given: boolean): void => {
        clearTimeout(timer);
        waiting.delete(take);
        resolve(given);
      };
      waiting.add(take);
    });
  const release = (): void => {
    const [next] = waiting;
    if (next) next();
    else inUse--;
  };
  return async (work) => {
    if (inUse < maxAtOnce) inUse++;
    else if (!(await waitForTurn())) throw busy();
    try {
      return await work();
    } finally {
      release();
    }
  };
}

function busy(): ProblemError {
  const what =
    'There are as many reports and plans under way here as there may be, and more would hold up what is being sent. Try again in a moment.';
  return new ProblemError(503, 'busy', what, { headers: { 'retry-after': String(retryAfter) } });
}

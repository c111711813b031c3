import { ProblemError } from './problem.ts';

export type CallLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export type CallLimits = { readonly plan: CallLimit; readonly report: CallLimit };

/** Each report or plan holds one of the ledger's ten connections; dispatch and receiver need the others. */
const maxCalls = 3;

/** Reports leave room for one plan, so that readers cannot prevent the start of a run. */
const maxReports = maxCalls - 1;

export function createCallLimits(wait = defaultWait): CallLimits {
  const [plan, reports] = [createCallLimit(maxCalls, wait), createCallLimit(maxReports, wait)];
  return { plan, report: (work) => reports(() => plan(work)) };
}

/** Milliseconds. A report ends a moment after its reader has it, so successive reports never fail. */
const defaultWait = 500;

const retryAfter = 5;

/** @param wait milliseconds until a waiting call is answered 503 */
export function createCallLimit(maxAtOnce: number, wait = defaultWait): CallLimit {
  let inUse = 0;
  /** Waiting calls, oldest first. */
  const waiting = new Set<() => void>();
  const waitForTurn = (): Promise<boolean> =>
    new Promise((resolve) => {
      const start = (): void => end(true);
      const timer = setTimeout(() => end(false), wait);
      const end = (given: boolean): void => {
        clearTimeout(timer);
        waiting.delete(start);
        resolve(given);
      };
      waiting.add(start);
    });
  const release = (): void => {
    const [next] = waiting;
    if (next) next();
    else inUse--;
  };
  return async (work) => {
    if (inUse < maxAtOnce) inUse++;
    else if (!(await waitForTurn())) throw busyProblem();
    try {
      return await work();
    } finally {
      release();
    }
  };
}

function busyProblem(): ProblemError {
  const what = 'Too many reports and plans are open in this process. Try again in a moment.';
  return new ProblemError(503, 'busy', what, { headers: { 'retry-after': String(retryAfter) } });
}

import { ProblemError } from './problem.ts';

export type CallLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export type CallLimits = {
  readonly plan: CallLimit;
  /** For an answer that is whole before it is sent. */
  readonly page: CallLimit;
  /** For an answer that is sent while it is read: it lasts as long as its reader wants. */
  readonly report: CallLimit;
};

/** Each report, page or plan holds one of the ledger's ten connections; dispatch and receiver need the others. */
const maxCalls = 4;

/** Pages leave room for one plan, so that readers cannot prevent the start of a run. */
const maxPages = maxCalls - 1;

/** Reports leave room for one page, so that readers who take their time cannot prevent an approval. */
const maxReports = maxPages - 1;

export function createCallLimits(wait = defaultWait): CallLimits {
  const plan = createCallLimit(maxCalls, wait);
  const [pages, reports] = [createCallLimit(maxPages, wait), createCallLimit(maxReports, wait)];
  const page: CallLimit = (work) => pages(() => plan(work));
  return { plan, page, report: (work) => reports(() => page(work)) };
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

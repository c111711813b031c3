import type { FastifyReply } from 'fastify';
import { defaultReportTimes, limitReportTimes } from './late-report.ts';
import { ProblemError } from './problem.ts';

export type CallLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** A report, for the caller with this token. */
export type ReportLimit = (
  reply: Pick<FastifyReply, 'raw'>,
  token: string,
  work: () => Promise<void>,
) => Promise<void>;

export type CallLimits = {
  readonly plan: CallLimit;
  /** For an answer that is whole before it is sent. */
  readonly page: CallLimit;
  /** For an answer that is sent while it is read, from one snapshot. */
  readonly report: ReportLimit;
  /** For an answer that is sent while it is read, in queries of their own: it waits for no report. */
  readonly list: ReportLimit;
};

/** Each report, page or plan holds one of the ledger's ten connections; dispatch and receiver need the others. */
const maxCalls = 4;

/** Pages leave room for one plan, so that readers cannot prevent the start of a run. */
const maxPages = maxCalls - 1;

/** Reports leave room for one page, so that readers who take their time cannot prevent an approval. */
const maxReports = maxPages - 1;

export function createCallLimits(times = defaultReportTimes, wait = defaultWait): CallLimits {
  const plan = createCallLimit(maxCalls, wait);
  const pages = createCallLimit(maxPages, wait);
  const [openReports, openLists] = [limitReportTimes(times), limitReportTimes(times)];
  const reports = createCallLimit(maxReports, wait, { onFull: openReports.endUnread });
  const page: CallLimit = (work) => pages(() => plan(work));
  const [reportOf, listOf] = [limitEachToken(wait), limitEachToken(wait)];
  return {
    plan,
    page,
    report: (reply, token, work) =>
      reportOf(token)(() => reports(() => page(() => openReports.run(reply, work)))),
    list: (reply, token, work) => listOf(token)(() => openLists.run(reply, work)),
  };
}

/** One report at a time for each token, so that one caller leaves a place for another. */
function limitEachToken(wait: number): (token: string) => CallLimit {
  const limits = new Map<string, CallLimit>();
  return (token) => {
    const limit =
      limits.get(token) ?? createCallLimit(1, wait, { reason: 'Another report of this token is open.' });
    limits.set(token, limit);
    return limit;
  };
}

/** Milliseconds. A report ends a moment after its reader has it, so successive reports never fail. */
const defaultWait = 500;

const retryAfter = 5;

/**
 * @param wait milliseconds until a waiting call is answered 503
 * @param reason why it is
 * @param onFull called before a call waits
 */
export function createCallLimit(
  maxAtOnce: number,
  wait = defaultWait,
  {
    reason = 'Too many reports and plans are open in this process.',
    onFull = () => undefined,
  }: { readonly reason?: string; readonly onFull?: () => void } = {},
): CallLimit {
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
    else {
      onFull();
      if (!(await waitForTurn())) throw busyProblem(reason);
    }
    try {
      return await work();
    } finally {
      release();
    }
  };
}

function busyProblem(reason: string): ProblemError {
  return new ProblemError(503, 'busy', `${reason} Try again in a moment.`, {
    headers: { 'retry-after': String(retryAfter) },
  });
}

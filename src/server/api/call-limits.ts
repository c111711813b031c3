import type { FastifyReply } from 'fastify';
import { ProblemError } from './problem.ts';

export type CallLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** A report, for the caller with this token. */
export type ReportLimit = (
  reply: Pick<FastifyReply, 'raw'>,
  token: string,
  work: () => Promise<void>,
) => Promise<void>;

/** How many answers of each kind are open at once. */
export type CallLimits = {
  readonly plan: CallLimit;
  /** Limits answers that are whole before they are sent. */
  readonly page: CallLimit;
  /** Limits answers that are sent while they are read, from one snapshot. */
  readonly report: ReportLimit;
  /** Limits answers that are sent while they are read, in queries of their own: they wait for no report. */
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
      if (!(await waitForTurn())) {
        const headers = { 'retry-after': '5' };
        throw new ProblemError(503, 'busy', `${reason} Try again in a moment.`, { headers });
      }
    }
    try {
      return await work();
    } finally {
      release();
    }
  };
}

/** Milliseconds. */
export type ReportTimes = {
  /** The time for the whole of a report. */
  readonly whole: number;
  /** The time in which the caller must take something of it. */
  readonly unread: number;
  /** The same while another caller waits for a report. */
  readonly unreadWhileOthersWait: number;
};

/** A report holds a transaction, behind which Postgres cannot clean up. A million rows are sent in less than a minute. */
const defaultReportTimes: ReportTimes = {
  whole: 300_000,
  unread: 20_000,
  unreadWhileOthersWait: 2_000,
};

/** Disconnects callers that take too long, which ends their reports. */
function limitReportTimes({ whole, unread, unreadWhileOthersWait }: ReportTimes) {
  const open = new Set<(maxUnread: number) => void>();
  return {
    /** @throws ProblemError instead of the failure of the work, if its caller took too long */
    run: async ({ raw }: Pick<FastifyReply, 'raw'>, work: () => Promise<void>): Promise<void> => {
      let late: string | undefined;
      const end = (reason: string): void => {
        late ??= reason;
        raw.destroy();
      };
      const countLooks = countUnreadLooks(raw);
      let looks = 0;
      const endIfUnread = (maxUnread: number): void => {
        if (looks * lookInterval >= maxUnread)
          end(`its caller took nothing of it for ${maxUnread / 1_000} seconds`);
      };
      const looking = setInterval(() => {
        looks = countLooks();
        endIfUnread(unread);
      }, lookInterval);
      const what = `its caller had not read all of it in ${whole / 1_000} seconds`;
      const ending = setTimeout(() => end(what), whole);
      open.add(endIfUnread);
      try {
        await work();
      } catch (error) {
        if (late === undefined) throw error;
        throw new ProblemError(503, 'busy', `The report was ended: ${late}.`);
      } finally {
        open.delete(endIfUnread);
        clearInterval(looking);
        clearTimeout(ending);
      }
    },
    /** Another caller waits for a report. */
    endUnread: (): void => {
      for (const endIfUnread of open) endIfUnread(unreadWhileOthersWait);
    },
  };
}

/** Milliseconds. */
const lookInterval = 500;

/** @returns looks; how many in a row found that the caller has taken nothing of what is there */
function countUnreadLooks(raw: FastifyReply['raw']): () => number {
  let taken = 0;
  let looks = 0;
  return () => {
    const { socket, writableLength } = raw;
    const now = socket?.bytesWritten ?? 0;
    // A report that waits for the ledger has nothing to be taken.
    looks = writableLength > 0 && now === taken ? looks + 1 : 0;
    taken = now;
    return looks;
  };
}

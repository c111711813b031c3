import type { FastifyReply } from 'fastify';
import { ProblemError } from './problem.ts';

/** Milliseconds. */
export type ReportTimes = {
  /** For the whole of a report. */
  readonly whole: number;
  /** In which the caller must take something of it. */
  readonly unread: number;
  /** The same while another caller waits for a report. */
  readonly unreadWhileOthersWait: number;
};

/** A report holds a transaction, behind which Postgres cannot clean up. A million rows are sent in less than a minute. */
export const defaultReportTimes: ReportTimes = {
  whole: 300_000,
  unread: 20_000,
  unreadWhileOthersWait: 2_000,
};

export type OpenReports = {
  /** @throws ProblemError instead of the failure of the work, if its caller took too long */
  readonly run: (reply: Pick<FastifyReply, 'raw'>, work: () => Promise<void>) => Promise<void>;
  /** Another caller waits for a report. */
  readonly endUnread: () => void;
};

/** Disconnects callers that take too long, which ends their reports. */
export function limitReportTimes({ whole, unread, unreadWhileOthersWait }: ReportTimes): OpenReports {
  const open = new Set<(maxUnread: number) => void>();
  return {
    run: async ({ raw }, work) => {
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
    endUnread: () => {
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

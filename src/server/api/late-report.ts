import type { FastifyReply } from 'fastify';
import { ProblemError } from './problem.ts';

/** Milliseconds. */
export type ReportTimes = {
  /** For the whole of a report. */
  readonly whole: number;
  /** In which the caller must take something of it. */
  readonly unread: number;
};

/** A report holds a transaction, behind which Postgres cannot clean up. A million rows are sent in less than a minute. */
export const defaultReportTimes: ReportTimes = { whole: 300_000, unread: 20_000 };

const looksWhileUnread = 4;

/**
 * Disconnects a caller that takes too long, which ends the work.
 *
 * @throws ProblemError instead of the failure of the work
 */
export async function endLateReport(
  { raw }: Pick<FastifyReply, 'raw'>,
  { whole, unread }: ReportTimes,
  work: () => Promise<void>,
): Promise<void> {
  let late: string | undefined;
  const end = (reason: string): void => {
    late ??= reason;
    raw.destroy();
  };
  let taken = 0;
  let looks = 0;
  const look = (): void => {
    const { socket, writableLength } = raw;
    const now = socket?.bytesWritten ?? 0;
    // A report that waits for the ledger has nothing to be taken.
    looks = writableLength > 0 && now === taken ? looks + 1 : 0;
    taken = now;
    if (looks >= looksWhileUnread) end(`its caller took nothing of it for ${unread / 1_000} seconds`);
  };
  const looking = setInterval(look, unread / looksWhileUnread);
  const ending = setTimeout(
    () => end(`its caller had not read all of it in ${whole / 1_000} seconds`),
    whole,
  );
  try {
    await work();
  } catch (error) {
    if (late === undefined) throw error;
    throw new ProblemError(503, 'busy', `The report was ended: ${late}.`);
  } finally {
    clearInterval(looking);
    clearTimeout(ending);
  }
}

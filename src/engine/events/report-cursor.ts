import type { ReceivedReport } from '../../ledger/events/event.ts';
import {
  blockSize,
  findMissingBlocks,
  findRecentReports,
  firstOfBlock,
  type ReadReport,
  type ReportMarks,
  readReportMarks,
  readReports,
} from '../../ledger/events/read-reports.ts';
import type { RunningTransactions } from '../../ledger/events/read-rows.ts';
import type { Transaction } from '../../ledger/session.ts';

/** One look reads at most so many. */
const maxReports = 10_000;

/** Delivery reports of the ledger among which a follower looks for the last ones of its runs. */
const firstLook = 5_000;

/** Blocks of reports that can be missing when a follower begins, because they are being committed. */
const maxInFlight = 1_000;

/** Missing blocks are looked for among so many; a follower that slept longer skips the others. */
const maxMissingRange = 4_000;
const maxMissingAtEnd = 50;

type Found = {
  readonly marks: ReportMarks;
  readonly missing: readonly number[];
  readonly reports: readonly ReadReport[];
  readonly running: RunningTransactions;
};

type ReportEvent = ReceivedReport & { readonly at: Date };

export type ReportQuery = { readonly runs: readonly string[] | null; readonly withAddresses: boolean };

/**
 * Reads delivery reports as they are applied, each once. Their numbers are in order of arrival, but one with a smaller
 * number can become visible later: it waited in the queue, or its commit took longer.
 */
export function createReportCursor() {
  let marks: ReportMarks | undefined;
  /** Every report before it is known, except missing ones, and those that are read again. */
  let from = 0;
  /** First numbers of missing blocks, and the transaction before which all that can commit them had begun. */
  const missing = new Map<number, string>();
  const seen = new Map<number, string>();
  return {
    async read(client: Transaction, query: ReportQuery, running: RunningTransactions): Promise<Found> {
      const now = await readReportMarks(client, from, [...missing.keys()]);
      const before = marks;
      if (!before) {
        const first = await findRecentReports(client, firstLook);
        const range = { from: first, to: now.last, also: now.rereading, newestFirst: true };
        const reports = await readReports(client, { ...query, ...range, limit: maxReports });
        const absent = await findMissingBlocks(client, 0, now.last, maxInFlight);
        return { marks: now, missing: absent, reports, running };
      }
      const numbers = [...missing.keys()].flatMap((block) =>
        Array.from({ length: blockSize }, (_, index) => block + index),
      );
      const range = { from, to: now.last, also: [...numbers, ...before.rereading], newestFirst: false };
      const reports = await readReports(client, { ...query, ...range, limit: maxReports });
      const found = await findMissingBlocks(client, before.last, now.last, maxMissingRange);
      // At the end of a partition, some can be missing while the next one is begun.
      if (before.last > 0 && now.last - before.last > maxMissingRange * blockSize) {
        const end = before.last + maxMissingAtEnd * blockSize;
        found.push(...(await findMissingBlocks(client, before.last, end, maxMissingAtEnd)));
      }
      return { marks: now, missing: found, reports, running };
    },
    /** Call it with what was read, once the transaction has ended. */
    take(found: Found): ReportEvent[] {
      const isFirst = marks === undefined;
      const fresh = found.reports.filter(({ report, state, outcome }) => {
        const content = `${state}/${outcome}`;
        const isNew = seen.get(report) !== content;
        seen.set(report, content);
        return isNew;
      });
      for (const { report } of found.reports) missing.delete(firstOfBlock(report));
      // Once its transaction has ended, it was rolled back, or is the report of another run.
      const waiting = new Set(found.marks.waiting);
      for (const [block, until] of missing)
        if (BigInt(found.running.oldest) >= BigInt(until) && !waiting.has(block)) missing.delete(block);
      for (const block of found.missing) missing.set(block, found.running.next);
      const next = Math.min(found.marks.firstWaiting ?? Number.POSITIVE_INFINITY, found.marks.last + 1);
      const last = found.reports.at(-1)?.report;
      const isCut = !isFirst && found.reports.length === maxReports && last !== undefined;
      from = isCut ? Math.min(next, last) : next;
      const again = new Set(found.marks.rereading);
      for (const report of seen.keys())
        if (report < from && !again.has(report) && !missing.has(firstOfBlock(report))) seen.delete(report);
      marks = found.marks;
      return fresh.map((report) => ({ kind: 'report', ...report }));
    },
  };
}

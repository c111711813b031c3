import type { ReceivedReport } from '../../ledger/events/event.ts';
import {
  findMissingReports,
  type ReadReport,
  type ReportMarks,
  readReportMarks,
  readReports,
} from '../../ledger/events/read-reports.ts';
import type { RunningTransactions } from '../../ledger/events/recent.ts';
import type { Transaction } from '../../ledger/session.ts';

/** One look reads at most so many. */
const maxReports = 10_000;

/** Delivery reports of the ledger among which a follower looks for the last ones of its runs. */
const firstLook = 5_000;

/** Numbers that can be missing when a follower begins, because they are being committed. */
const maxInFlight = 10_000;

/** Missing numbers are looked for among so many; a follower that slept longer skips them. */
const maxMissingRange = 100_000;

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
  /** Missing numbers, and the transaction before which all that can commit them had begun. */
  const missing = new Map<number, string>();
  const seen = new Map<number, string>();
  return {
    async read(client: Transaction, query: ReportQuery, running: RunningTransactions): Promise<Found> {
      const now = await readReportMarks(client, from, [...missing.keys()]);
      const before = marks;
      if (!before) {
        const range = { from: now.last - firstLook, to: now.last, also: now.rereading, newestFirst: true };
        const reports = await readReports(client, { ...query, ...range, limit: maxReports });
        const absent = await findMissingReports(client, Math.max(0, now.last - maxInFlight), now.last);
        return { marks: now, missing: absent, reports, running };
      }
      const range = {
        from,
        to: now.last,
        also: [...missing.keys(), ...before.rereading],
        newestFirst: false,
      };
      const reports = await readReports(client, { ...query, ...range, limit: maxReports });
      const hasRange = now.last > before.last && now.last - before.last <= maxMissingRange;
      const found = hasRange ? await findMissingReports(client, before.last, now.last) : [];
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
      for (const { report } of found.reports) missing.delete(report);
      // Once its transaction has ended, it was rolled back, or is the report of another run.
      const waiting = new Set(found.marks.waiting);
      for (const [report, until] of missing)
        if (BigInt(found.running.oldest) >= BigInt(until) && !waiting.has(report)) missing.delete(report);
      for (const report of found.missing) missing.set(report, found.running.next);
      const next = Math.min(found.marks.firstWaiting ?? Number.POSITIVE_INFINITY, found.marks.last + 1);
      const last = found.reports.at(-1)?.report;
      const isCut = !isFirst && found.reports.length === maxReports && last !== undefined;
      from = isCut ? Math.min(next, last) : next;
      const again = new Set([...found.marks.rereading, ...missing.keys()]);
      for (const report of seen.keys()) if (report < from && !again.has(report)) seen.delete(report);
      marks = found.marks;
      return fresh.map((report) => ({ kind: 'report', ...report }));
    },
  };
}

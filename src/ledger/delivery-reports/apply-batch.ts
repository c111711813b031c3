import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { type AccountSharing, noSharing } from '../../domain/account-sharing.ts';
import { rejectedValueCode } from '../../platform/database-failures.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { applyParsedReports } from './apply-parsed.ts';
import { addRowsOfReports } from './ordinary-report-rows.ts';
import { dequeueReports, type QueuedReport } from './queue.ts';
import type { ParsedQueuedReport, RawReport, ReportContent } from './report-content.ts';
import { type FailedReport, storeFailed } from './store-failed.ts';

/** Bodies that are read without a pause (bytes): half a millisecond's work where they are ordinary. */
const bytesBetweenPauses = 16 * 1024;

/** What a batch is applied with beside the ledger. */
export type ApplyOptions = {
  /** By which accounts' messages a report may be about, and whose suppressions opt-outs are. */
  readonly sharing?: AccountSharing;
  /** Called once the batch is committed, for each of its reports that could not be applied. */
  readonly onFailed?: (failed: FailedReport) => void;
};

/**
 * Takes a batch of reports from the inbox, has them read, and applies them, in one transaction. Safe with several
 * appliers at once, again after a crash, and in any order. A report that the ledger refuses is marked `failed`, and holds
 * up no other.
 *
 * @param parse pure: what the bytes of a report say
 * @returns how many were taken; 0 when nothing is due
 */
export async function applyReports(
  pool: pg.Pool,
  limit: number,
  parse: (report: RawReport) => ReportContent,
  now: Date,
  { sharing = noSharing, onFailed = () => undefined }: ApplyOptions = {},
): Promise<number> {
  const failed: FailedReport[] = [];
  const dequeued = await inTransaction(pool, async (client) => {
    const reports = await dequeueReports(client, limit, now);
    await addRowsOfReports(
      client,
      reports.filter(({ reread }) => reread).map(({ report }) => report),
    );
    const { readings, unread } = await parseAll(reports, parse);
    const apply = (part: readonly ParsedQueuedReport[]): Promise<void> =>
      applyParsedReports(client, part, sharing, now);
    failed.push(...unread, ...(await applyOrBisect(client, readings, apply)));
    await storeFailed(client, failed);
    return reports.length;
  });
  for (const report of failed) onFailed(report);
  return dequeued;
}

async function parseAll(
  reports: readonly QueuedReport[],
  parse: (report: RawReport) => ReportContent,
): Promise<{ readonly readings: ParsedQueuedReport[]; readonly unread: FailedReport[] }> {
  const readings: ParsedQueuedReport[] = [];
  const unread: FailedReport[] = [];
  let sincePause = 0;
  for (const report of reports) {
    try {
      readings.push({ ...report, ...parse(report) });
    } catch (error) {
      // It is made not to throw; where it does all the same, it would for this report each time.
      unread.push({ ...report, code: error instanceof Error ? error.name : 'unknown' });
    }
    sincePause += report.body.byteLength;
    if (sincePause < bytesBetweenPauses) continue;
    // Callers of the same process wait for their answers.
    await setImmediate();
    sincePause = 0;
  }
  return { readings, unread };
}

/**
 * Applies them together; where the ledger refuses that, each half by itself, until the one that it minds is alone.
 *
 * @returns those that it refuses
 */
async function applyOrBisect(
  client: Transaction,
  readings: readonly ParsedQueuedReport[],
  apply: (readings: readonly ParsedQueuedReport[]) => Promise<void>,
): Promise<readonly FailedReport[]> {
  const [first] = readings;
  if (first === undefined) return [];
  await client.query('SAVEPOINT reports');
  try {
    await apply(readings);
    return [];
  } catch (error) {
    const code = rejectedValueCode(error);
    if (code === undefined) throw error;
    await client.query('ROLLBACK TO SAVEPOINT reports; RELEASE SAVEPOINT reports');
    if (readings.length === 1) return [{ ...first, code }];
    const middle = Math.ceil(readings.length / 2);
    const earlier = await applyOrBisect(client, readings.slice(0, middle), apply);
    return [...earlier, ...(await applyOrBisect(client, readings.slice(middle), apply))];
  }
}

import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { type AccountSharing, nothingShared } from '../../domain/accounts.ts';
import { refusalCode } from '../../platform/database-failures.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { applyReadings } from './apply-readings.ts';
import { keepDecided } from './decided.ts';
import { type FailedReport, keepFailed } from './failed.ts';
import { type QueuedReport, takeReports } from './inbox.ts';
import type { InboxReport, QueuedReading, Reading } from './reading.ts';

/** Bodies that are read without a pause (bytes): half a millisecond's work where they are ordinary. */
const readAtOnce = 16 * 1024;

/** What a batch is applied with beside the ledger. */
export type Applying = {
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
 * @param read pure: what the bytes of a report say
 * @returns how many were taken; 0 when nothing is due
 */
export async function applyReports(
  pool: pg.Pool,
  limit: number,
  read: (report: InboxReport) => Reading,
  now: Date,
  { sharing = nothingShared, onFailed = () => undefined }: Applying = {},
): Promise<number> {
  const failed: FailedReport[] = [];
  const taken = await inTransaction(pool, async (client) => {
    const reports = await takeReports(client, limit, now);
    await keepDecided(
      client,
      reports.filter(({ reread }) => reread).map(({ report }) => report),
    );
    const { readings, unread } = await readAll(reports, read);
    const apply = (some: readonly QueuedReading[]): Promise<void> =>
      applyReadings(client, some, sharing, now);
    failed.push(...unread, ...(await applyEach(client, readings, apply)));
    await keepFailed(client, failed);
    return reports.length;
  });
  for (const report of failed) onFailed(report);
  return taken;
}

async function readAll(
  reports: readonly QueuedReport[],
  read: (report: InboxReport) => Reading,
): Promise<{ readonly readings: QueuedReading[]; readonly unread: FailedReport[] }> {
  const readings: QueuedReading[] = [];
  const unread: FailedReport[] = [];
  let sincePause = 0;
  for (const report of reports) {
    try {
      readings.push({ ...report, ...read(report) });
    } catch (error) {
      // It is made not to throw; where it does all the same, it would for this report each time.
      unread.push({ ...report, code: error instanceof Error ? error.name : 'unknown' });
    }
    sincePause += report.body.byteLength;
    if (sincePause < readAtOnce) continue;
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
async function applyEach(
  client: Transaction,
  readings: readonly QueuedReading[],
  apply: (readings: readonly QueuedReading[]) => Promise<void>,
): Promise<readonly FailedReport[]> {
  const [first] = readings;
  if (first === undefined) return [];
  await client.query('SAVEPOINT reports');
  try {
    await apply(readings);
    return [];
  } catch (error) {
    const code = refusalCode(error);
    if (code === undefined) throw error;
    await client.query('ROLLBACK TO SAVEPOINT reports; RELEASE SAVEPOINT reports');
    if (readings.length === 1) return [{ ...first, code }];
    const middle = Math.ceil(readings.length / 2);
    const earlier = await applyEach(client, readings.slice(0, middle), apply);
    return [...earlier, ...(await applyEach(client, readings.slice(middle), apply))];
  }
}

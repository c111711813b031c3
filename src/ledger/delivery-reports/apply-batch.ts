import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { type AccountSharing, noSharing } from '../../domain/account-sharing.ts';
import { rejectedValueCode } from '../../platform/database-failures.ts';
import { hasCode } from '../../platform/file-error.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { applyParsedReports } from './apply-parsed.ts';
import { decideOutcomes, listEarlierRecipients, lockOutcomes } from './decide.ts';
import { dequeueReports, type QueuedReport } from './dequeue.ts';
import { addRowsOfReports } from './ordinary-report-rows.ts';
import { type CallWithReports, divideCalls } from './queue.ts';
import type { ParsedQueuedReport, RawReport, ReportContent } from './report-content.ts';
import { storeUndecided } from './store-content.ts';

/** Bytes: about half a millisecond of parsing. */
const bytesBetweenPauses = 16 * 1024;

/** After a crash of Postgres, a batch that it forgot is still in the inbox, and is applied again: its commit need not wait for the disk. */
const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'; SET LOCAL synchronous_commit = off`;

type ApplyOptions = {
  /** Accounts that share a webhook or suppressions. */
  readonly sharing?: AccountSharing;
  /** Called after the commit, for each report that could not be applied. */
  readonly onFailed?: (failed: FailedDeliveryReport) => void;
};

/**
 * Dequeues, parses and applies a batch of delivery reports in one transaction. It is safe in parallel, after a crash,
 * and in any order. A report that the ledger refuses is marked `failed` and blocks no other. The reports of a call
 * that has several are queued, each by itself.
 *
 * @param parse pure
 * @returns the number of dequeued reports; 0: none is due
 */
export async function applyDeliveryReports(
  pool: pg.Pool,
  {
    limit,
    parse,
    now,
    sharing = noSharing,
    onFailed = () => undefined,
  }: ApplyOptions & {
    readonly limit: number;
    readonly parse: (report: RawReport) => ReportContent;
    readonly now: Date;
  },
): Promise<number> {
  const failed: FailedDeliveryReport[] = [];
  const dequeued = await inTransaction(
    pool,
    async (client) => {
      const reports = await dequeueReports(client, limit, now);
      await addRowsOfReports(
        client,
        reports.filter(({ reread }) => reread).map(({ report }) => report),
      );
      const { readings, unread, several } = await parseAll(reports, parse);
      const apply = (part: readonly ParsedQueuedReport[]): Promise<void> =>
        applyParsedReports(client, part, sharing, now);
      failed.push(...unread, ...(await applyOrBisect(client, readings, apply)));
      await storeFailed(client, failed);
      // Last, because a purge too locks outcomes before the inbox.
      await divideCalls(client, several);
      return reports.length;
    },
    begin,
  );
  for (const report of failed) onFailed(report);
  return dequeued;
}

async function parseAll(
  reports: readonly QueuedReport[],
  parse: (report: RawReport) => ReportContent,
): Promise<{
  readonly readings: ParsedQueuedReport[];
  readonly unread: FailedDeliveryReport[];
  readonly several: CallWithReports[];
}> {
  const readings: ParsedQueuedReport[] = [];
  const unread: FailedDeliveryReport[] = [];
  const several: CallWithReports[] = [];
  let sincePause = 0;
  for (const report of reports) {
    try {
      const content = parse(report);
      if (content.kind === 'several') several.push({ report: report.report, bodies: content.bodies });
      else readings.push({ ...report, ...content });
    } catch (error) {
      // A parser bug would recur with each attempt.
      unread.push({ ...report, code: error instanceof Error ? error.name : 'unknown' });
    }
    sincePause += report.body.byteLength;
    if (sincePause < bytesBetweenPauses) continue;
    // Lets the process answer its callers.
    await setImmediate();
    sincePause = 0;
  }
  return { readings, unread, several };
}

/**
 * Applies reports together; where the ledger refuses them, each half by itself, down to single reports.
 *
 * @returns the refused reports
 */
async function applyOrBisect(
  client: Transaction,
  readings: readonly ParsedQueuedReport[],
  apply: (readings: readonly ParsedQueuedReport[]) => Promise<void>,
): Promise<readonly FailedDeliveryReport[]> {
  const [first] = readings;
  if (first === undefined) return [];
  await client.query('SAVEPOINT reports');
  try {
    await apply(readings);
    return [];
  } catch (error) {
    const code = rejectedValueCode(error);
    const wasFolded = hasCode(error, serializationFailure);
    if (code === undefined && !wasFolded) throw error;
    await client.query('ROLLBACK TO SAVEPOINT reports; RELEASE SAVEPOINT reports');
    if (code === undefined) return applyOrBisect(client, readings, apply);
    if (readings.length === 1) return [{ ...first, code }];
    const middle = Math.ceil(readings.length / 2);
    const earlier = await applyOrBisect(client, readings.slice(0, middle), apply);
    return [...earlier, ...(await applyOrBisect(client, readings.slice(middle), apply))];
  }
}

/** An outcome was folded after the statement began. The next one sees its block. */
const serializationFailure = '40001';

export type FailedDeliveryReport = Pick<RawReport, 'report' | 'account' | 'receivedAt'> & {
  /** SQLSTATE of the ledger's refusal, or the name of the parser's error. */
  readonly code: string;
};

/**
 * Marks reports as `failed`, and decides outcomes of earlier readings again without them. They are dead letters: only an
 * operator's replay reads them again.
 */
export async function storeFailed(
  client: Transaction,
  failed: readonly FailedDeliveryReport[],
): Promise<void> {
  if (failed.length === 0) return;
  const reports = failed.map(({ report }) => report);
  const before = await listEarlierRecipients(client, reports);
  await lockOutcomes(client, before);
  const stored = failed.map(({ code, ...report }) => ({ ...report, why: `the ledger refuses it (${code})` }));
  await storeUndecided(client, 'failed', stored);
  await decideOutcomes(client, [], new Map(), before);
}

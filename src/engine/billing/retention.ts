import { addAuditEntry } from '../../ledger/audit/audit.ts';
import { moveFormerCalls, takeFormerQueue } from '../../ledger/delivery-reports/former-inbox.ts';
import {
  dropOldPartitions,
  listOldPartitions,
  type OldPartition,
} from '../../ledger/delivery-reports/partitions.ts';
import {
  beginDeletingRecords,
  countAuditBefore,
  deleteAudit,
  deleteOldRows,
  deleteRecords,
  listRecordsCandidates,
  type RecordsCandidate,
} from '../../ledger/purge/delete-records.ts';
import type { EngineContext } from '../context.ts';
import { bookBilling } from './billing.ts';

/** What is older is deleted; undefined: nothing is. */
export type Retention = {
  /** Deletes the records of runs that ended before, and that an earlier call purged. */
  readonly recordsBefore: Date | undefined;
  readonly auditBefore: Date | undefined;
  /** Drops partitions of the inbox with raw delivery reports from before only, also of runs that are kept. */
  readonly deliveryReportsBefore?: Date | undefined;
};

export type DeletedRecords = {
  /** Runs whose records were deleted. */
  readonly runs: number;
  readonly held: readonly RecordsCandidate[];
  readonly auditEntries: number;
  /** Raw delivery reports in partitions that were dropped. */
  readonly reports: number;
  readonly heldReports: readonly OldPartition[];
};

const isHeld = ({ held }: RecordsCandidate): boolean => held !== null;

export async function previewRetention(
  { ledger: { pool } }: EngineContext,
  { recordsBefore, auditBefore, deliveryReportsBefore }: Retention,
): Promise<DeletedRecords> {
  const candidates = recordsBefore ? await listRecordsCandidates(pool, recordsBefore) : [];
  const partitions = deliveryReportsBefore ? await listOldPartitions(pool, deliveryReportsBefore) : [];
  return {
    runs: candidates.filter((each) => !isHeld(each)).length,
    held: candidates.filter(isHeld),
    auditEntries: auditBefore ? await countAuditBefore(pool, auditBefore) : 0,
    ...countPartitions(partitions),
  };
}

function countPartitions(
  partitions: readonly OldPartition[],
): Pick<DeletedRecords, 'reports' | 'heldReports'> {
  return {
    reports: partitions.reduce((sum, { held, calls }) => sum + (held === null ? calls : 0), 0),
    heldReports: partitions.filter(({ held }) => held !== null),
  };
}

/**
 * Deletes records of purged runs whose billing is closed, old audit entries, and old raw delivery reports. After an interruption, the next call
 * continues.
 *
 * @throws Error when `auditBefore` is less than a year ago
 */
export async function applyRetention(
  context: EngineContext,
  { recordsBefore, auditBefore, deliveryReportsBefore }: Retention,
): Promise<DeletedRecords> {
  const { pool } = context.ledger;
  const deleted = recordsBefore ? await deleteRecordsBefore(context, recordsBefore) : { runs: 0, held: [] };
  const auditEntries = auditBefore ? await deleteAudit(pool, auditBefore) : 0;
  const partitions = deliveryReportsBefore ? await dropReportsBefore(context, deliveryReportsBefore) : [];
  const { reports, heldReports } = countPartitions(partitions);
  if (deleted.runs + auditEntries + reports > 0) {
    const details = {
      recordsBefore,
      runs: deleted.runs,
      auditBefore,
      auditEntries,
      ...(deliveryReportsBefore && { deliveryReportsBefore, reports }),
    };
    await addAuditEntry(
      pool,
      context.actor,
      { action: 'purged', subject: 'old records', details },
      { outcome: 'done', at: context.now() },
    );
  }
  return { ...deleted, auditEntries, reports, heldReports };
}

async function dropReportsBefore({ ledger: { pool } }: EngineContext, before: Date): Promise<OldPartition[]> {
  await takeFormerQueue(pool);
  while (await moveFormerCalls(pool));
  return dropOldPartitions(pool, before);
}

async function deleteRecordsBefore(
  context: EngineContext,
  before: Date,
): Promise<Pick<DeletedRecords, 'runs' | 'held'>> {
  const { pool } = context.ledger;
  await bookBilling(context);
  const due = (await listRecordsCandidates(pool, before)).filter((each) => !isHeld(each));
  await beginDeletingRecords(
    pool,
    due.map(({ run }) => run),
    context.now(),
  );
  // A delivery report may have been applied meanwhile; no later one is.
  await bookBilling(context);
  const begun = await listRecordsCandidates(pool, before);
  const runs = due
    .map(({ run }) => run)
    .filter((run) => begun.some((each) => each.run === run && !isHeld(each)));
  await deleteRecords(pool, runs);
  await deleteOldRows(pool, before);
  return { runs: runs.length, held: begun.filter(isHeld) };
}

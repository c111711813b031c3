import { addAuditEntry } from '../../ledger/audit/audit.ts';
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
};

export type DeletedRecords = {
  /** Runs whose records were deleted. */
  readonly runs: number;
  readonly held: readonly RecordsCandidate[];
  readonly auditEntries: number;
};

const isHeld = ({ held }: RecordsCandidate): boolean => held !== null;

export async function previewRetention(
  { ledger: { pool } }: EngineContext,
  { recordsBefore, auditBefore }: Retention,
): Promise<DeletedRecords> {
  const candidates = recordsBefore ? await listRecordsCandidates(pool, recordsBefore) : [];
  return {
    runs: candidates.filter((each) => !isHeld(each)).length,
    held: candidates.filter(isHeld),
    auditEntries: auditBefore ? await countAuditBefore(pool, auditBefore) : 0,
  };
}

/**
 * Deletes records of purged runs whose billing is closed, and old audit entries. After an interruption, the next call
 * continues.
 *
 * @throws Error when `auditBefore` is less than a year ago
 */
export async function applyRetention(
  context: EngineContext,
  { recordsBefore, auditBefore }: Retention,
): Promise<DeletedRecords> {
  const { pool } = context.ledger;
  const deleted = recordsBefore ? await deleteRecordsBefore(context, recordsBefore) : { runs: 0, held: [] };
  const auditEntries = auditBefore ? await deleteAudit(pool, auditBefore) : 0;
  if (deleted.runs + auditEntries > 0) {
    const details = { recordsBefore, runs: deleted.runs, auditBefore, auditEntries };
    await addAuditEntry(
      pool,
      context.actor,
      { action: 'purged', subject: 'old records', details },
      { outcome: 'done', at: context.now() },
    );
  }
  return { ...deleted, auditEntries };
}

async function deleteRecordsBefore(
  context: EngineContext,
  before: Date,
): Promise<Omit<DeletedRecords, 'auditEntries'>> {
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

import { InputError } from '../../domain/problems.ts';
import { addAuditEntry } from '../../ledger/audit/audit.ts';
import { moveFormerCalls, takeFormerQueue } from '../../ledger/delivery-reports/former-inbox.ts';
import { deleteBatches, deleteSignedCalls } from '../../ledger/delivery-reports/receive.ts';
import {
  beginPurge,
  countPurgeable,
  listPurgeCandidates,
  type PurgeCandidate,
  type PurgeLimit,
} from '../../ledger/purge/candidates.ts';
import { eraseOldDeliveryReports, eraseOldTicks } from '../../ledger/purge/erase-old.ts';
import { eraseRun } from '../../ledger/purge/erase-run.ts';
import { giveBackSpace } from '../../ledger/purge/give-back-space.ts';
import { deleteRemovedSuppressions, hashSuppressions } from '../../ledger/purge/hash-suppressions.ts';
import { inRerunLock } from '../../ledger/runs/made-once.ts';
import { inTransaction } from '../../ledger/session.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { bookBilling } from './billing.ts';

export type Purge = {
  readonly runs: number;
  readonly recipients: number;
  /** Those of them that were accepted and have no final delivery report: one that comes later is still booked. */
  readonly unreported: number;
  readonly reports: number;
  /** Suppressions turned into hashes. */
  readonly suppressions: number;
  readonly held: readonly PurgeCandidate[];
};

/** Previews a purge. Changes nothing, not even billing. */
export async function previewPurge({ ledger }: EngineContext, limit: PurgeLimit): Promise<Purge> {
  const { pool } = ledger;
  const candidates = await listPurgeCandidates(pool, limit, 'unbooked too');
  const due = candidates.filter(({ held }) => held === null);
  const counts = await countPurgeable(
    pool,
    due.map(({ run }) => run),
    limit.before,
  );
  return { ...sumRuns(due), ...counts, held: candidates.filter(({ held }) => held !== null) };
}

/**
 * Erases personal data of old runs, hashes old suppressions, and gives the space back to the disk. Counts and billing stay.
 * After an interruption, the next call continues.
 *
 * @param onRun called before a run is erased
 * @param longestWait milliseconds, for the end of others' transactions
 * @throws InputError when the hash key is missing or has changed
 */
export async function purge(
  context: EngineContext,
  limit: PurgeLimit,
  onRun: (run: PurgeCandidate) => void,
  longestWait?: number,
): Promise<Purge> {
  const { pool, hashKey } = context.ledger;
  if (hashKey === null) {
    const what = 'A purge keeps suppressed addresses as hashes. Set their key first.';
    throw new InputError([{ where: 'VOLLEY_HASH_KEY', what }]);
  }
  await requireHashKey(pool, hashKey);
  await bookBilling(context);
  const purged: PurgeCandidate[] = [];
  const held: PurgeCandidate[] = [];
  let reports = 0;
  let wait = longestWait;
  for (const candidate of await listPurgeCandidates(pool, limit)) {
    if (candidate.held !== null) {
      held.push(candidate);
      continue;
    }
    // No rerun of it can be planned meanwhile.
    const erased = await inRerunLock(pool, candidate.run, async () => {
      if (!(await begin(context, candidate.run, limit))) return undefined;
      onRun(candidate);
      return eraseRun(pool, candidate.run, wait);
    });
    if (erased === undefined) {
      held.push({ ...candidate, held: 'in_use' });
      continue;
    }
    reports += erased.reports;
    // Most likely the same transaction is still open.
    if (erased.keptEnvelopes) wait = 0;
    purged.push(candidate);
  }
  await takeFormerQueue(pool);
  while (await moveFormerCalls(pool));
  reports += await eraseOldDeliveryReports(pool, limit.before);
  const suppressions = await hashSuppressions(pool, hashKey, limit.before);
  await deleteRemovedSuppressions(pool, limit.before);
  await eraseOldTicks(pool, limit.before);
  // A process that only sends does not delete them.
  await deleteBatches(pool, limit.before);
  await deleteSignedCalls(pool, limit.before);
  const details = { before: limit.before, runs: purged.length, reports, suppressions };
  // A nightly purge is audited only when it erased something.
  if (purged.length + reports + suppressions > 0)
    await addAuditEntry(
      pool,
      context.actor,
      { action: 'purged', details },
      { outcome: 'done', at: context.now() },
    );
  await giveBackSpace(pool);
  return { ...sumRuns(purged), reports, suppressions, held };
}

/** @returns false when the run has to be kept */
function begin(context: EngineContext, run: string, limit: PurgeLimit): Promise<boolean> {
  const details = { before: limit.before };
  return inTransaction(context.ledger.pool, async (client) => {
    const begun = await beginPurge(client, run, limit, context.now());
    if (begun) await auditEntry(context, { action: 'run purged', run, details })(client);
    return begun;
  });
}

function sumRuns(runs: readonly PurgeCandidate[]): Pick<Purge, 'runs' | 'recipients' | 'unreported'> {
  const sum = (figure: 'recipients' | 'unreported'): number =>
    runs.reduce((all, run) => all + run[figure], 0);
  return { runs: runs.length, recipients: sum('recipients'), unreported: sum('unreported') };
}

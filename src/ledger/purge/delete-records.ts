import type pg from 'pg';
import { InputError } from '../../domain/problems.ts';
import { isInDoubt, isUnbooked } from './candidates.ts';
import { type Writer, waitForEarlierWriters } from './earlier-writers.ts';
import { deleteAll } from './erase-run.ts';

/** Why the records of a purged run are kept. `open_month`: a month in which it is billed is not closed. */
export type RecordsHold = 'in_doubt' | 'unbooked' | 'open_month';

/** A purged run that is old enough. `held`: why its records are kept; null: they go. */
export type RecordsCandidate = { readonly run: string; readonly held: RecordsHold | null };

/** About so many recipients for each transaction. */
const batch = 20_000;

/** SQL: why the records of `runs r` are kept, else null. */
const holdCase = `
  CASE
    WHEN ${isInDoubt} THEN 'in_doubt'
    WHEN ${isUnbooked} THEN 'unbooked'
    WHEN EXISTS (
      SELECT FROM billing_entries e
      WHERE e.run_id = r.run_id
        AND e.booked >= coalesce((SELECT max(ends_at) FROM billing_closings), '-infinity')
    ) THEN 'open_month'
  END`;

/** Lists purged runs that ended before that time, also those whose deletion was interrupted. */
export async function listRecordsCandidates(pool: pg.Pool, before: Date): Promise<RecordsCandidate[]> {
  const { rows } = await pool.query<RecordsCandidate>(
    `
    SELECT r.run_id AS run, ${holdCase} AS held
    FROM runs r
    WHERE r.purged_at IS NOT NULL AND NOT r.purging AND coalesce(r.finished_at, r.created_at) < $1
      AND (r.records_deleted_at IS NULL OR EXISTS (SELECT FROM contents c WHERE c.run_id = r.run_id))
    ORDER BY r.created_at, r.run_id
    `,
    [before],
  );
  return rows;
}

/**
 * From the return on, no delivery report finds a recipient of these runs: transactions that may not see the mark have
 * ended. The next call marks and waits again.
 *
 * @param longestWait milliseconds
 * @throws InputError when one of them takes longer
 */
export async function beginDeletingRecords(
  pool: pg.Pool,
  runs: readonly string[],
  now: Date,
  longestWait?: number,
): Promise<void> {
  if (runs.length === 0) return;
  await pool.query(
    'UPDATE runs SET records_deleted_at = coalesce(records_deleted_at, $2) WHERE run_id = ANY ($1)',
    [runs, now],
  );
  const writers = await waitForEarlierWriters(pool, longestWait);
  if (writers.length > 0) throw stillWriting(writers);
}

function stillWriting(writers: readonly Writer[]): InputError {
  const shown = writers.flatMap(({ pid, name, since }) =>
    pid === null ? [] : [`${pid} ${name ?? ''} since ${since?.toISOString() ?? 'an unknown time'}`],
  );
  const what = `Old records are kept: a transaction that began before has not ended, and may still apply delivery reports to them (sessions of Postgres: ${shown.join(', ') || 'not shown'}). The next purge deletes them, once it has ended.`;
  return new InputError([{ where: 'ledger', what }]);
}

/** SQL: the few outcomes that counts look up stay, those of requests that are not accepted (`readRunCounts`). */
const isNotLookedUp = `NOT EXISTS (
  SELECT FROM early_proofs p WHERE p.run_id = recipient_outcomes.run_id AND p.request = recipient_outcomes.request
)`;

/** Tables with rows for requests, recipients or rejected contacts; the last shows that an interruption was before it. */
const tables = [
  'recipient_outcomes',
  'folded_reports',
  'folded_outcomes',
  'envelopes',
  'rejected_contacts',
  'recipient_keys',
  'polls',
  'contents',
];

/**
 * Deletes the records of runs in batches, each in its own transaction. After an interruption the next call continues. What
 * says which requests were sent, and when, stays.
 */
export async function deleteRecords(pool: pg.Pool, runs: readonly string[]): Promise<void> {
  for (const run of runs)
    for (const table of tables) {
      const which = table === 'recipient_outcomes' ? isNotLookedUp : 'true';
      await deleteAll(pool, run, table, { limit: batch, which });
    }
}

/** Deletes what belongs to runs without records, and what is older than that and belongs to no run. */
export async function deleteOldRows(pool: pg.Pool, before: Date): Promise<void> {
  for (const statement of oldRows) await pool.query(statement, [before]);
}

const ofDeletedOrNone = `(run_id IS NULL OR run_id IN (SELECT run_id FROM runs WHERE records_deleted_at IS NOT NULL))`;

const oldRows = [
  `DELETE FROM job_numbers WHERE answered_at < $1 AND run_id IN (SELECT run_id FROM runs WHERE records_deleted_at IS NOT NULL)`,
  // A report with its raw bytes can still be read again.
  `DELETE FROM unusual_delivery_reports k
   WHERE received_at < $1 AND ${ofDeletedOrNone} AND NOT has_call(k.report_id)`,
  `DELETE FROM notifications WHERE created_at < $1 AND state <> 'due' AND ${ofDeletedOrNone}`,
  `DELETE FROM ticks WHERE due_at < $1 AND state <> 'due' AND ${ofDeletedOrNone}`,
];

/**
 * Deletes audit entries before that time, except those of runs that go on.
 *
 * @throws Error when the time is less than a year ago
 */
export async function deleteAudit(pool: pg.Pool, before: Date): Promise<number> {
  const { rows } = await pool.query<{ deleted: number }>(
    'SELECT CAST(delete_audit($1) AS float8) AS deleted',
    [before],
  );
  return rows[0]?.deleted ?? 0;
}

export async function countAuditBefore(pool: pg.Pool, before: Date): Promise<number> {
  const { rows } = await pool.query<{ entries: number }>(
    'SELECT CAST(count(*) AS float8) AS entries FROM audit WHERE at < $1',
    [before],
  );
  return rows[0]?.entries ?? 0;
}

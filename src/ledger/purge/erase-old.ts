import type pg from 'pg';
import { inTransaction, type Transaction } from '../session.ts';
import { eraseReportWords } from './erase-run.ts';

const batch = 5_000;

/**
 * Deletes raw reports from before that time that belong to no run or to a purged one, and erases their personal data.
 * Queued reports and those of kept runs stay. Each batch is a transaction.
 */
export async function eraseOldDeliveryReports(pool: pg.Pool, before: Date): Promise<number> {
  let erased = 0;
  for (let after = '0'; ; ) {
    const from = after;
    const step = await inTransaction(pool, (client) => eraseAfter(client, from, before));
    erased += step.erased;
    // Report ids follow the time of arrival, nearly.
    if (step.last === null || step.younger) return erased;
    after = step.last;
  }
}

type Step = { readonly last: string | null; readonly erased: number; readonly younger: boolean };

async function eraseAfter(client: Transaction, after: string, before: Date): Promise<Step> {
  const { rows } = await client.query<Step>(
    `
    WITH found AS MATERIALIZED (
      SELECT report_id, received_at FROM inbox WHERE report_id > $1 ORDER BY report_id LIMIT $3
    ), due AS MATERIALIZED (
      SELECT f.report_id
      FROM found f
      LEFT JOIN delivery_reports k USING (report_id)
      LEFT JOIN runs r ON r.run_id = k.run_id
      WHERE f.received_at < $2 AND (r.run_id IS NULL OR r.purged_at IS NOT NULL)
        AND f.report_id NOT IN (SELECT unnest(report_ids) FROM inbox_queue)
    ), erased AS (
      UPDATE unusual_delivery_reports k
      SET ${eraseReportWords}
      FROM due
      WHERE k.report_id = due.report_id
    ), deleted AS (
      DELETE FROM inbox i USING due WHERE i.report_id = due.report_id
    )
    SELECT max(report_id)::text AS last, (SELECT count(*)::integer FROM due) AS erased,
           coalesce(bool_and(received_at >= $2), true) AS younger
    FROM found
    `,
    [after, before, batch],
  );
  return rows[0] ?? { last: null, erased: 0, younger: true };
}

/** Erases reasons of ticks before that time: they may quote a row of a contact file. */
export async function eraseOldTicks(pool: pg.Pool, before: Date): Promise<void> {
  await pool.query(
    `UPDATE ticks SET reason = NULL WHERE due_at < $1 AND state <> 'due' AND reason IS NOT NULL`,
    [before],
  );
}

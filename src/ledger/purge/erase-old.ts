import type pg from 'pg';
import { inTransaction } from '../session.ts';
import { eraseReportWords } from './erase-run.ts';

/**
 * Erases raw reports from before that time that belong to no run or to a purged one, and what is personal of their
 * content. Reports that wait and those of kept runs stay. Each batch is a transaction.
 *
 * @returns the number of erased raw reports
 */
export async function eraseOldDeliveryReports(pool: pg.Pool, before: Date): Promise<number> {
  await inSteps(pool, eraseContents, before);
  return inSteps(pool, eraseCalls, before);
}

type Step = { readonly last: string | null; readonly erased: number; readonly younger: boolean };

/** @returns the sum of what was erased */
async function inSteps(pool: pg.Pool, statement: string, before: Date): Promise<number> {
  let erased = 0;
  for (let after = '-1'; ; ) {
    const from = after;
    const step = await inTransaction(pool, async (client) => {
      const { rows } = await client.query<Step>(statement, [from, before]);
      return rows[0] ?? { last: null, erased: 0, younger: true };
    });
    erased += step.erased;
    // Report ids follow the time of arrival, nearly.
    if (step.last === null || step.younger) return erased;
    after = step.last;
  }
}

/** SQL: the reports of `f` that may go. */
const due = `
      LEFT JOIN runs r ON r.run_id = k.run_id
      WHERE f.received_at < $2 AND (r.run_id IS NULL OR r.purged_at IS NOT NULL)
        AND f.report_id NOT IN (SELECT report_id FROM waiting_reports)`;

/** Content stays longer than raw reports whose partition was dropped. */
const eraseContents = `
    WITH found AS MATERIALIZED (
      SELECT report_id, received_at FROM unusual_delivery_reports WHERE report_id > $1 ORDER BY report_id LIMIT 5000
    ), due AS MATERIALIZED (
      SELECT f.report_id
      FROM found f
      JOIN unusual_delivery_reports k USING (report_id)${due}
    ), erased AS (
      UPDATE unusual_delivery_reports k
      SET ${eraseReportWords}
      FROM due
      WHERE k.report_id = due.report_id AND num_nonnulls(k.address, k.text, k.status, k.result, k.detail) > 0
    )
    SELECT max(report_id)::text AS last, 0 AS erased, coalesce(bool_and(received_at >= $2), true) AS younger
    FROM found
`;

const eraseCalls = `
    WITH block AS MATERIALIZED (
      SELECT first_report, first_received_at FROM inbox_blocks WHERE first_report > $1 ORDER BY first_report LIMIT 50
    ), found AS MATERIALIZED (
      SELECT c.report_id, c.received_at
      FROM block
      JOIN inbox_blocks b USING (first_report)
      CROSS JOIN LATERAL calls_in(b) c
    ), due AS MATERIALIZED (
      SELECT f.report_id
      FROM found f
      LEFT JOIN delivery_reports_of(ARRAY(SELECT report_id FROM found)) k USING (report_id)${due}
    )
    SELECT max(first_report)::text AS last, erase_calls(ARRAY(SELECT report_id FROM due))::integer AS erased,
           coalesce(bool_and(first_received_at >= $2), true) AS younger
    FROM block
`;

/** Erases reasons of ticks before that time: they may quote a row of a contact file. */
export async function eraseOldTicks(pool: pg.Pool, before: Date): Promise<void> {
  await pool.query(
    `UPDATE ticks SET reason = NULL WHERE due_at < $1 AND state <> 'due' AND reason IS NOT NULL`,
    [before],
  );
}

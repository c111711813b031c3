import type { Transaction } from '../session.ts';
import { type RecipientKey, recipientKeys } from './report-content.ts';

/* Give ordinary reports rows of their own, which then hold their states. */

const columns = `report_id, account, received_at, state, message_id, address, status, result, outcome, sent_at, units, price,
  run_id, request, position, job_number`;

/** Adds rows of reports that were ordinary when they were read before. */
export async function addRowsOfReports(client: Transaction, reports: readonly string[]): Promise<void> {
  if (reports.length === 0) return;
  // Locks outcomes first, as `decideOutcomes` does: otherwise they could deadlock.
  await client.query(
    `SELECT
     FROM recipient_outcomes
     WHERE report_id = ANY ($1::bigint[])
     ORDER BY run_id, request, position
     FOR UPDATE`,
    [reports],
  );
  await client.query(
    `INSERT INTO unusual_delivery_reports (${columns})
     SELECT ${columns}
     FROM delivery_reports
     WHERE report_id = ANY ($1::bigint[])
     ON CONFLICT DO NOTHING`,
    [reports],
  );
}

/**
 * Adds rows of the reports that decided these locked outcomes. OFFSET 0 looks up each by key: in a join, the view
 * would list every report.
 */
export async function addRowsOfDecidingReports(
  client: Transaction,
  recipients: readonly RecipientKey[],
): Promise<void> {
  await client.query({
    name: 'add-rows-of-deciding-reports',
    text: insertDecidingReports,
    values: recipientKeys.values(recipients),
  });
}

const insertDecidingReports = `
  INSERT INTO unusual_delivery_reports (${columns})
  SELECT d.*
  FROM ${recipientKeys.table('k')}
  CROSS JOIN LATERAL (
    SELECT ${columns}
    FROM delivery_reports r
    WHERE r.run_id = k.run_id AND r.request = k.request AND r.position = k.position
    OFFSET 0
  ) d
  ON CONFLICT DO NOTHING`;

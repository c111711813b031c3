import type { Transaction } from '../session.ts';
import { type RecipientKey, recipientKeys } from './matched-recipient.ts';

/*
 * Gives ordinary reports rows of their own, from which on these say what became of them. What they decided is not changed
 * by it.
 */

const columns = `report_id, account, received_at, state, message_id, address, status, result, outcome, sent_at, units, price,
  run_id, request, position, job_number`;

/** Those of these reports that were ordinary when they were read before. */
export async function addRowsOfReports(client: Transaction, reports: readonly string[]): Promise<void> {
  if (reports.length === 0) return;
  // First, as for those who decide about their recipients: two of them would wait for each other crosswise.
  await client.query(
    `SELECT
     FROM recipient_outcomes
     WHERE report_id = ANY ($1::bigint[])
     ORDER BY run_id, request, position
     FOR UPDATE`,
    [reports],
  );
  await client.query(
    `INSERT INTO unusual_reports (${columns})
     SELECT ${columns}
     FROM reports
     WHERE report_id = ANY ($1::bigint[])
     ON CONFLICT DO NOTHING`,
    [reports],
  );
}

/**
 * Those that decided what became of these recipients, whose outcomes the caller has locked. Each is looked up by its key
 * (OFFSET 0): joined with all of them at once, the view is made of every report of the ledger.
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
  INSERT INTO unusual_reports (${columns})
  SELECT d.*
  FROM ${recipientKeys.table('k')}
  CROSS JOIN LATERAL (
    SELECT ${columns}
    FROM reports r
    WHERE r.run_id = k.run_id AND r.request = k.request AND r.position = k.position
    OFFSET 0
  ) d
  ON CONFLICT DO NOTHING`;

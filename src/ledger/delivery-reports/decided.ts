import type { Transaction } from '../session.ts';
import { keys, type RecipientKey } from './matched.ts';

/*
 * Gives ordinary reports rows of their own, from which on these say what became of them. What they decided is not changed
 * by it.
 */

const keep = `
  INSERT INTO unusual_reports (report_id, account, received_at, state, message_id, address, status, result, outcome,
                               sent_at, units, price, run_id, request, position, job_number)
  SELECT report_id, account, received_at, state, message_id, address, status, result, outcome, sent_at, units, price,
         run_id, request, position, job_number
  FROM reports`;

/** Those of these reports that were ordinary when they were read before. */
export async function keepDecided(client: Transaction, reports: readonly string[]): Promise<void> {
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
  await client.query(`${keep} WHERE report_id = ANY ($1::bigint[]) ON CONFLICT DO NOTHING`, [reports]);
}

/** Those that decided what became of these recipients, whose outcomes the caller has locked. */
export async function keepDeciders(client: Transaction, recipients: readonly RecipientKey[]): Promise<void> {
  await client.query(
    `${keep}
     WHERE (run_id, request, position) IN (SELECT * FROM ${keys.table('k')})
     ON CONFLICT DO NOTHING`,
    keys.values(recipients),
  );
}

import { recipientOf } from '../request-rows.ts';
import type { Transaction } from '../session.ts';
import { unfoldOutcomesOf } from './outcome-blocks.ts';
import { type RecipientKey, recipientKeys } from './report-content.ts';

/* Give ordinary reports rows of their own, which then hold their states. */

/** SQL: adds the rows. @param outcomes a table `o` with the outcomes that the reports decided */
const addRows = (outcomes: string): string => `
  INSERT INTO unusual_delivery_reports (report_id, account, received_at, state, message_id, address, status, result,
                                        outcome, sent_at, units, price, run_id, request, position, job_number)
  SELECT o.report_id, r.account, o.reported_at, 'applied', message_id(r.run_number, r.message_key, o.request), p.address,
         o.status, o.result, o.outcome, o.sent_at, o.units, o.price, o.run_id, o.request, o.position, o.job_number
  FROM ${outcomes}
  JOIN runs r ON r.run_id = o.run_id
  LEFT JOIN ${recipientOf('o.run_id', 'o.request', 'o.position')} p ON true
  WHERE o.report_id IS NOT NULL
  ON CONFLICT DO NOTHING`;

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
  await unfoldOutcomesOf(client, reports);
  await client.query(addRows('(SELECT * FROM recipient_outcomes WHERE report_id = ANY ($1::bigint[])) o'), [
    reports,
  ]);
}

/** Adds rows of the reports that decided these locked outcomes. */
export async function addRowsOfDecidingReports(
  client: Transaction,
  recipients: readonly RecipientKey[],
): Promise<void> {
  await client.query({
    name: 'add-rows-of-deciding-reports',
    text: addRows(decidedOutcomes),
    values: recipientKeys.values(recipients),
  });
}

/** Looks up each by key. */
const decidedOutcomes = `${recipientKeys.table('k')}
  CROSS JOIN LATERAL (
    SELECT *
    FROM recipient_outcomes
    WHERE run_id = k.run_id AND request = k.request AND position = k.position
    LIMIT 1
  ) o`;

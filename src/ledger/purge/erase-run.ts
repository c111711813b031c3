import type pg from 'pg';
import { foldWholeRun } from '../counts/fold.ts';
import { foldOutcomesLock } from '../delivery-reports/fold-outcomes.ts';
import {
  eraseJobNumbers,
  eraseMessage,
  eraseRequests,
  type PayerEnvelopes,
  readPayerEnvelopes,
  renameUnbookedEnvelopes,
} from '../requests/erase.ts';
import { eraseRejectionDetail } from '../runs/rejected-contacts.ts';
import { inTransaction } from '../session.ts';
import { waitForEarlierWriters } from './earlier-writers.ts';

/** About so many recipients, or rows of other tables, for each transaction. */
const batch = 20_000;

/** So many file pieces of a mebibyte for each transaction. */
const fileBatch = 200;

/** SQL: what is erased of `unusual_delivery_reports`. */
export const eraseReportWords = 'address = NULL, text = NULL, status = NULL, result = NULL, detail = NULL';

/** SQL: the parts of a definition that contain no personal data. */
const keptDefinition = `
  (SELECT coalesce(jsonb_object_agg(key, value), '{}')
   FROM jsonb_each(definition)
   WHERE key IN ('campaign', 'account', 'channel', 'dispatch', 'budget'))`;

/**
 * Erases a run's personal data and messages in batches, each in its own transaction. After an interruption the next
 * call continues. Billing data stays: requests with MessageIDs and states, lines, parts, tariffs, attempts, outcomes
 * with units and prices. The service's words may quote anything, so they go.
 *
 * @param longestWait milliseconds, for the end of transactions that may name a former envelope
 */
export async function eraseRun(pool: pg.Pool, run: string, longestWait?: number): Promise<ErasedRun> {
  const ofPayers = await readPayerEnvelopes(pool, run);
  const reports = await eraseRecipients(pool, run, ofPayers);
  const keptEnvelopes = !(await deleteOtherEnvelopes(pool, run, ofPayers, longestWait));
  await pool.query(`UPDATE envelopes SET ${eraseMessage} WHERE run_id = $1`, [run]);
  for (let after: number | null = -1; after !== null; after = await eraseRejected(pool, run, after));
  await deleteAll(pool, run, 'contact_file_pieces');
  await deleteAll(pool, run, 'run_files');
  await pool.query('DELETE FROM contact_files WHERE run_id = $1', [run]);
  // Addresses of few recipients could be guessed from a digest.
  await pool.query('DELETE FROM fingerprints WHERE run_id = $1', [run]);
  await deleteAll(pool, run, 'recipient_keys', { limit: batch });
  await eraseJobNumbers(pool, run);
  await pool.query('UPDATE run_rests SET source = NULL, problem = NULL WHERE run_id = $1', [run]);
  await pool.query('UPDATE run_states SET reason = NULL WHERE run_id = $1', [run]);
  await pool.query('UPDATE run_decisions SET reason = NULL WHERE run_id = $1', [run]);
  await eraseNotifications(pool, run);
  // The groups without words take the place of those with them.
  await inTransaction(pool, (client) => foldWholeRun(client, run));
  await pool.query(
    `UPDATE runs SET definition = ${keptDefinition}, state_reason = NULL, purging = false WHERE run_id = $1`,
    [run],
  );
  return { reports, keptEnvelopes };
}

export type ErasedRun = {
  /** Deleted raw reports. */
  readonly reports: number;
  /** A transaction did not end in time, so envelopes without requests stay, without their messages. */
  readonly keptEnvelopes: boolean;
};

/**
 * Deletes envelopes that no request has any more. They stay where a transaction that may have read a request before does not
 * end: it may apply a delivery report, and name the former envelope.
 *
 * @returns false if they stay
 */
async function deleteOtherEnvelopes(
  pool: pg.Pool,
  run: string,
  ofPayers: PayerEnvelopes,
  longestWait: number | undefined,
): Promise<boolean> {
  if ((await waitForEarlierWriters(pool, longestWait)).length > 0) return false;
  await inTransaction(pool, (client) => renameUnbookedEnvelopes(client, run, ofPayers));
  const which = 'envelope <> ALL ($3::integer[])';
  await deleteAll(pool, run, 'envelopes', { limit: batch, which, values: [ofPayers.envelopes] });
  return true;
}

/** Erases recipients in ranges of requests, which are sized by their recipients. */
async function eraseRecipients(pool: pg.Pool, run: string, ofPayers: PayerEnvelopes): Promise<number> {
  const { rows } = await pool.query<{ last: number; each: number }>(
    `
    SELECT coalesce(max(request), 0) AS last, coalesce(sum(recipients)::float8 / nullif(count(*), 0), 1) AS each
    FROM request_states WHERE run_id = $1
    `,
    [run],
  );
  const { last, each: recipientsPerRequest } = rows[0] ?? { last: 0, each: 1 };
  const size = Math.max(1, Math.floor(batch / Math.max(1, recipientsPerRequest)));
  let reports = 0;
  for (let first = 0; first <= last; first += size) {
    const range = [run, first, first + size - 1];
    reports += await inTransaction(pool, async (client) => {
      await eraseRequests(client, { run, first, last: first + size - 1 }, ofPayers);
      await client.query(`SELECT pg_advisory_xact_lock(${foldOutcomesLock})`);
      for (const statement of recipientStatements) await client.query(statement, range);
      const { rows: erased } = await client.query<{ calls: number }>(eraseCalls, range);
      return erased[0]?.calls ?? 0;
    });
  }
  return reports;
}

/** Blocks are locked: what an applier unfolds afterwards has no words. */
const recipientStatements = [
  `
  SELECT
  FROM folded_outcomes
  WHERE run_id = $1 AND first_request BETWEEN $2 AND $3
  ORDER BY first_request
  FOR UPDATE
  `,
  // The counts lose the words too.
  `
  WITH erased AS (
    DELETE FROM folded_reports w WHERE w.run_id = $1 AND w.first_request BETWEEN $2 AND $3 RETURNING w.*
  ), lost AS (
    SELECT b.outcomes[e.kind] AS outcome, w.results[e.words] AS result, count(*) AS recipients
    FROM erased w
    JOIN folded_outcomes b ON b.run_id = $1 AND b.first_request = w.first_request
    CROSS JOIN LATERAL unnest(b.kinds, w.words) AS e (kind, words)
    WHERE w.results[e.words] IS NOT NULL
    GROUP BY 1, 2
  )
  INSERT INTO run_counts (run_id, counted, requests, recipients, group_id, words)
  SELECT $1, outcome, 0, -recipients, result_group(result), to_jsonb(result) FROM lost
  UNION ALL
  SELECT $1, outcome, 0, sum(recipients), result_group(NULL), NULL FROM lost GROUP BY outcome
  `,
  // Reasons of suppressed recipients are Volley's own words.
  `
  UPDATE recipient_outcomes
  SET result = NULL, status = NULL
  WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND outcome <> 'cancelled'
    AND (result IS NOT NULL OR status IS NOT NULL)
  `,
  `
  UPDATE unusual_delivery_reports
  SET ${eraseReportWords}
  WHERE run_id = $1 AND request BETWEEN $2 AND $3
  `,
];

/** Their raw calls go: a replay would misread an empty body. */
const eraseCalls = `
  SELECT CAST(erase_calls(ARRAY(
    SELECT report_id FROM delivery_reports_between($1, $2, $3)
  )) AS float8) AS calls
`;

/** Erases a batch of rejected contacts after that line. @returns its last line; null: none is left */
async function eraseRejected(pool: pg.Pool, run: string, after: number): Promise<number | null> {
  const { rows } = await pool.query<{ last: number | null }>(
    `
    WITH found AS (
      SELECT line FROM rejected_contacts WHERE run_id = $1 AND line > $2 ORDER BY line LIMIT $3
    ), erased AS (
      UPDATE rejected_contacts r
      SET ${eraseRejectionDetail}
      FROM found
      WHERE r.run_id = $1 AND r.line = found.line
    )
    SELECT max(line) AS last FROM found
    `,
    [run, after, batch],
  );
  return rows[0]?.last ?? null;
}

/**
 * Deletes rows of a run in batches, until none is left: `giveBackSpace` of another process may move some meanwhile, and a
 * moved row is no longer at its place.
 *
 * @param which SQL: whether a row goes; its `values` begin with $3
 */
export async function deleteAll(
  pool: pg.Pool,
  run: string,
  table: string,
  {
    limit = fileBatch,
    which = 'true',
    values = [],
  }: { readonly limit?: number; readonly which?: string; readonly values?: readonly unknown[] } = {},
): Promise<void> {
  for (let left = true; left; ) {
    const { rowCount } = await pool.query(
      `
      WITH found AS MATERIALIZED (
        SELECT ctid FROM ${table} WHERE run_id = $1 AND ${which} LIMIT $2
      ), deleted AS (
        DELETE FROM ${table} WHERE run_id = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM found))
      )
      SELECT FROM found LIMIT 1
      `,
      [run, limit, ...values],
    );
    left = rowCount === 1;
  }
}

/** Erases the content and targets of a purged run's notifications. Those that are due are given up. */
async function eraseNotifications(pool: pg.Pool, run: string): Promise<void> {
  await pool.query(
    `
    UPDATE notifications
    SET reason = NULL, body = NULL, target = jsonb_build_object('on', target -> 'on', 'kind', target -> 'kind'),
        state = CASE state WHEN 'due' THEN 'given up' ELSE state END,
        problem = CASE state WHEN 'due' THEN NULL ELSE problem END,
        ended_at = coalesce(ended_at, now())
    WHERE run_id = $1
    `,
    [run],
  );
  await pool.query('DELETE FROM notify_lists WHERE run_id = $1', [run]);
}

import type pg from 'pg';
import { eraseJobNumbers, eraseRequests } from '../requests/erase.ts';
import { inTransaction, type Transaction } from '../session.ts';

/** Recipients that are erased in one transaction, about; and rows of other tables. */
const batch = 20_000;

/** Pieces of files, a mebibyte each, that are deleted in one transaction. */
const fileBatch = 200;

/** SQL: what is kept of a frozen definition: nothing in these keys is of a person. */
const keptDefinition = `
  (SELECT coalesce(jsonb_object_agg(key, value), '{}')
   FROM jsonb_each(definition)
   WHERE key IN ('campaign', 'account', 'channel', 'dispatch', 'budget'))`;

/**
 * Erases what a run knows of people, and its messages; in batches, each a transaction of its own. Done again, it goes on
 * where it was stopped. What billing is made of stays: requests with their MessageIDs and states, lines, parts and
 * tariffs, when attempts were made and what became of them, outcomes with units and price. The service's words may quote
 * anything, so they go.
 *
 * @returns how many raw reports were deleted
 */
export async function eraseRun(pool: pg.Pool, run: string): Promise<number> {
  const reports = await eraseRecipients(pool, run);
  await inBatches(pool, async (client, after) => {
    const { rows } = await client.query<{ last: number | null }>(
      `
      WITH erased AS (
        UPDATE envelopes
        SET fields = '{}', keypads = '[]', files = '[]', audio = '{}'
        WHERE run_id = $1 AND envelope > $2 AND envelope <= $2 + $3
      )
      SELECT min(envelope) AS last FROM envelopes WHERE run_id = $1 AND envelope > $2 + $3
      `,
      [run, after, batch],
    );
    const next = rows[0]?.last ?? null;
    return next === null ? null : next - 1;
  });
  await inBatches(pool, async (client, after) => {
    const { rows } = await client.query<{ last: number | null }>(
      `
      WITH found AS (
        SELECT line FROM rejected_contacts WHERE run_id = $1 AND line > $2 ORDER BY line LIMIT $3
      ), erased AS (
        UPDATE rejected_contacts r
        SET kind = NULL, message = '', related_run = NULL, sub_account = NULL, source = NULL, file = NULL, number = NULL, differs = NULL
        FROM found
        WHERE r.run_id = $1 AND r.line = found.line
      )
      SELECT max(line) AS last FROM found
      `,
      [run, after, batch],
    );
    return rows[0]?.last ?? null;
  });
  await deleteAll(pool, 'contact_file_pieces', run);
  await deleteAll(pool, 'run_files', run);
  await pool.query('DELETE FROM contact_files WHERE run_id = $1', [run]);
  // Of few recipients, a digest of their addresses could be found out.
  await pool.query('DELETE FROM fingerprints WHERE run_id = $1', [run]);
  await deleteAll(pool, 'recipient_keys', run, batch);
  await eraseJobNumbers(pool, run);
  await pool.query('UPDATE run_states SET reason = NULL WHERE run_id = $1', [run]);
  await eraseNotifications(pool, run);
  await pool.query(
    `UPDATE runs SET definition = ${keptDefinition}, state_reason = NULL, purging = false WHERE run_id = $1`,
    [run],
  );
  return reports;
}

/** By ranges of requests, with what belongs to them; a request may have many recipients. */
async function eraseRecipients(pool: pg.Pool, run: string): Promise<number> {
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
      await eraseRequests(client, { run, first, last: first + size - 1 });
      for (const statement of recipientStatements) await client.query(statement, range);
      const { rowCount } = await client.query(deleteReports, range);
      return rowCount ?? 0;
    });
  }
  return reports;
}

const recipientStatements = [
  // What is message of those who were left out are our own words.
  `
  UPDATE recipient_outcomes
  SET result = NULL, status = NULL
  WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND outcome <> 'cancelled'
    AND (result IS NOT NULL OR status IS NOT NULL)
  `,
  `
  UPDATE unusual_reports
  SET address = NULL, text = NULL, status = NULL, result = NULL, detail = NULL
  WHERE run_id = $1 AND request BETWEEN $2 AND $3
  `,
];

/** What is deleted is not read again: an empty body would say something else than it did. */
const deleteReports = `
  DELETE FROM inbox i
  USING reports k
  WHERE k.run_id = $1 AND k.request BETWEEN $2 AND $3 AND i.report_id = k.report_id
`;

/** @param step takes where the last one ended, and gives where it ended itself; null at the end */
async function inBatches(
  pool: pg.Pool,
  step: (client: Transaction, after: number) => Promise<number | null>,
): Promise<void> {
  for (let after: number | null = -1; after !== null; ) {
    const from: number = after;
    after = await inTransaction(pool, (client) => step(client, from));
  }
}

async function deleteAll(pool: pg.Pool, table: string, run: string, limit = fileBatch): Promise<void> {
  const rows = `SELECT ctid FROM ${table} WHERE run_id = $1 LIMIT $2`;
  for (;;) {
    const { rowCount } = await pool.query(
      `DELETE FROM ${table} WHERE run_id = $1 AND ctid = ANY (ARRAY(${rows}))`,
      [run, limit],
    );
    if ((rowCount ?? 0) < limit) return;
  }
}

/** Forgets what a purged run told, and to whom; what is still to be told never will be. */
export async function eraseNotifications(pool: pg.Pool, run: string): Promise<void> {
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

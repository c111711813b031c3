import type pg from 'pg';
import { erasedWords } from '../../domain/waits.ts';
import { foldWholeRun } from '../counts/fold.ts';
import { unfoldOutcomes } from '../delivery-reports/outcome-blocks.ts';
import { type ErasedRecipients, eraseMessage, eraseRecipients } from '../requests/erase.ts';
import { eraseRejectionDetail } from '../runs/rejected-contacts.ts';
import type { Transaction } from '../session.ts';
import { eraseReportWords } from './erase-run.ts';

/** A person's recipients in a run, and the lines of their contacts. */
export type ErasedPerson = ErasedRecipients & { readonly lines: readonly number[] };

/**
 * Erases one person from a run that has ended, unless it goes on meanwhile. Money stays with the payer.
 *
 * @returns the number of deleted raw reports; undefined: the run goes on
 */
export async function erasePersonFromRun(
  client: Transaction,
  person: ErasedPerson,
): Promise<number | undefined> {
  const { run, requests, positions, lines, words } = person;
  // Resuming and resolving lock the run first.
  const { rowCount: ended } = await client.query(
    `SELECT FROM runs WHERE run_id = $1 AND state IN ('completed', 'cancelled') AND purged_at IS NULL FOR UPDATE`,
    [run],
  );
  if (ended === 0) return undefined;
  await eraseRecipients(client, person);
  await unfoldOutcomes(
    client,
    requests.map((request, index) => ({ run, request, position: positions[index] ?? 0 })),
  );
  for (const statement of ofRecipients) await client.query(statement, [run, requests, positions]);
  const { rows } = await client.query<{ calls: number }>(eraseCalls, [run, requests, positions]);
  await client.query(eraseEnvelopes, [run, requests]);
  for (const statement of ofLines) await client.query(statement, [run, lines]);
  for (const statement of ofRun) await client.query(statement, [run, words]);
  // An address could be guessed from a digest of a list that has no other.
  await client.query(
    `DELETE FROM fingerprints WHERE run_id = $1
     AND NOT EXISTS (SELECT FROM contents c, unnest(c.addresses) AS address WHERE c.run_id = $1 AND address <> '')`,
    [run],
  );
  // The counts lose the words that the recipients lost.
  await foldWholeRun(client, run);
  return rows[0]?.calls ?? 0;
}

const ofRecipients = [
  `
  UPDATE recipient_outcomes o
  SET result = NULL, status = NULL
  FROM unnest($2::integer[], $3::integer[]) AS e (request, position)
  WHERE o.run_id = $1 AND o.request = e.request AND o.position = e.position AND o.outcome <> 'cancelled'
  `,
  `
  UPDATE unusual_delivery_reports k
  SET ${eraseReportWords}
  FROM unnest($2::integer[], $3::integer[]) AS e (request, position)
  WHERE k.run_id = $1 AND k.request = e.request AND k.position = e.position
  `,
];

/** Looks up each recipient. The view of all reports would add the address to each report of the run first. */
const eraseCalls = `
  SELECT CAST(erase_calls(ARRAY(
    SELECT o.report_id
    FROM unnest($2::integer[], $3::integer[]) AS e (request, position)
    JOIN recipient_outcomes o ON o.run_id = $1 AND o.request = e.request AND o.position = e.position
    UNION ALL
    SELECT k.report_id
    FROM unnest($2::integer[], $3::integer[]) AS e (request, position)
    JOIN unusual_delivery_reports k ON k.run_id = $1 AND k.request = e.request AND k.position = e.position
  )) AS float8) AS calls
`;

/** Envelopes that only erased recipients have: they may be written for one person. */
const eraseEnvelopes = `
  WITH own AS MATERIALIZED (
    SELECT DISTINCT q.envelope
    FROM unnest($2::integer[]) AS e (request)
    CROSS JOIN LATERAL (SELECT * FROM requests_between($1, e.request, e.request) LIMIT 1) q
    WHERE NOT EXISTS (
      SELECT
      FROM contents c
      CROSS JOIN LATERAL unnest(c.request_offsets, c.addresses) AS p (request_offset, address)
      WHERE c.run_id = $1 AND q.envelope = ANY (c.envelopes) AND c.envelopes[p.request_offset + 1] = q.envelope
        AND p.address <> ''
    )
  ), erased AS (
    UPDATE envelopes v
    SET ${eraseMessage}
    FROM own
    WHERE v.run_id = $1 AND v.envelope = own.envelope
  )
  DELETE FROM run_files f
  WHERE f.run_id = $1
    AND EXISTS (
      SELECT FROM envelopes v JOIN own USING (envelope)
      WHERE v.run_id = $1 AND to_jsonb(f.path) IN (SELECT jsonb_path_query(v.files || v.audio, '$.**'))
    )
    AND NOT EXISTS (
      SELECT FROM envelopes v
      WHERE v.run_id = $1 AND v.envelope NOT IN (SELECT envelope FROM own)
        AND to_jsonb(f.path) IN (SELECT jsonb_path_query(v.files || v.audio, '$.**'))
    )
`;

const ofLines = [
  `
  UPDATE rejected_contacts
  SET ${eraseRejectionDetail}
  WHERE run_id = $1 AND line = ANY ($2::integer[])
  `,
  'DELETE FROM recipient_keys WHERE run_id = $1 AND line = ANY ($2::integer[])',
];

const ofRun = [
  'UPDATE runs SET state_reason = NULL WHERE run_id = $1 AND CAST(state_reason AS text) ~* $2',
  'UPDATE run_states SET reason = NULL WHERE run_id = $1 AND CAST(reason AS text) ~* $2',
  'UPDATE run_decisions SET reason = NULL WHERE run_id = $1 AND reason ~* $2',
  // Without a problem it would be decided again.
  `UPDATE run_rests SET problem = '${erasedWords}' WHERE run_id = $1 AND problem ~* $2`,
  `
  UPDATE notifications
  SET reason = NULL, body = NULL, problem = NULL
  WHERE run_id = $1 AND concat_ws(' ', reason, body, problem) ~* $2
  `,
];

/** SQL: reports with the address ($1) that were read, and belong to no run that may go on ($2: runs left alone). */
const reportsWithAddress = `
  WITH found AS MATERIALIZED (
    SELECT report_id FROM inbox_calls WHERE concat_ws(' ', encode(body, 'escape'), headers) ~* $1
    UNION
    -- Their content stays longer than raw reports whose partition was dropped.
    SELECT report_id FROM unusual_delivery_reports WHERE concat_ws(' ', address, text, status, result, detail) ~* $1
  )
  SELECT f.report_id
  FROM found f
  LEFT JOIN delivery_reports_of(ARRAY(SELECT report_id FROM found)) o USING (report_id)
  LEFT JOIN runs r USING (run_id)
  WHERE (r.run_id IS NULL OR (r.state IN ('completed', 'cancelled') AND NOT r.run_id = ANY ($2::text[])))
    AND f.report_id NOT IN (SELECT report_id FROM waiting_reports)
`;

/**
 * Erases what is left of an address outside runs: raw delivery reports with it, and reasons of ticks. Reports of other
 * recipients that quote it lose their raw bytes and keep their result.
 *
 * @param leftAlone runs whose reports stay
 * @returns the number of deleted raw reports
 */
export async function eraseAddressElsewhere(
  client: Transaction,
  words: string,
  leftAlone: readonly string[],
): Promise<number> {
  const { rows } = await client.query<{ report_id: string }>(reportsWithAddress, [words, leftAlone]);
  const reports = rows.map(({ report_id }) => report_id);
  await client.query(
    `
    UPDATE unusual_delivery_reports
    SET ${eraseReportWords}
    WHERE report_id = ANY ($1::bigint[])
    `,
    [reports],
  );
  const { rows: erased } = await client.query<{ calls: number }>(
    'SELECT CAST(erase_calls($1::bigint[]) AS float8) AS calls',
    [reports],
  );
  await client.query(`UPDATE ticks SET reason = NULL WHERE state <> 'due' AND CAST(reason AS text) ~* $1`, [
    words,
  ]);
  return erased[0]?.calls ?? 0;
}

/** Counts the raw reports that `eraseAddressElsewhere` would delete before the runs are erased. */
export async function countReportsWithAddress(
  pool: pg.Pool,
  words: string,
  leftAlone: readonly string[],
): Promise<number> {
  const { rows } = await pool.query<{ calls: number }>(
    `SELECT CAST(count(*) AS float8) AS calls FROM (${reportsWithAddress}) w WHERE has_call(report_id)`,
    [words, leftAlone],
  );
  return rows[0]?.calls ?? 0;
}

import type pg from 'pg';
import type { ReportMethod } from '../../domain/delivery-reports.ts';
import { entryBytes, entryReports } from './inbox.ts';

/** One call of the receiver, as it came. */
export type ReceivedReport = {
  readonly account: string;
  readonly receivedAt: Date;
  readonly method: ReportMethod;
  readonly contentType: string;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a GET, what stands after the question mark. */
  readonly body: Buffer;
  /** Digest of what its sender has signed: a call of the account with the same was taken before. */
  readonly signature?: Buffer;
};

/**
 * Commits the raw bytes of reports to the inbox, in their order; all or none. A signed call that was taken before is not
 * taken again. Only after this may a call be answered 2xx
 * (rule 5). Done again with the same batch, it changes nothing: so it can be tried until it is known to be committed.
 *
 * @param batch a UUID of these reports' own
 */
export async function receiveReports(
  pool: pg.Pool,
  batch: string,
  reports: readonly ReceivedReport[],
): Promise<void> {
  await pool.query({
    name: 'receive-reports',
    text: `
    WITH fresh AS (
      INSERT INTO inbox_batches (batch, received_at) VALUES ($1, ($3::timestamptz[])[1])
      ON CONFLICT DO NOTHING
      RETURNING batch
    ), with_signature AS MATERIALIZED (
      SELECT account, calls.received_at, signature, place
      FROM fresh
      CROSS JOIN unnest($2::text[], $3::timestamptz[], $8::bytea[])
        WITH ORDINALITY AS calls (account, received_at, signature, place)
      WHERE signature IS NOT NULL
    ), signed AS (
      -- In the order of the key, so that two that write the same signatures wait for each other, not crosswise.
      INSERT INTO signed_calls (account, digest, received_at)
      SELECT account, signature, min(received_at)
      FROM with_signature
      GROUP BY account, signature
      ORDER BY account, signature
      ON CONFLICT DO NOTHING
      RETURNING account, digest
    ), stored AS (
      INSERT INTO inbox (account, received_at, method, content_type, headers, body)
      SELECT account, received.received_at, method, content_type, headers, body
      FROM fresh
      CROSS JOIN unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::jsonb[], $7::bytea[], $8::bytea[])
        WITH ORDINALITY AS received (account, received_at, method, content_type, headers, body, signature, place)
      WHERE signature IS NULL OR place IN (
        SELECT min(s.place)
        FROM with_signature s
        JOIN signed n ON n.account = s.account AND n.digest = s.signature
        GROUP BY s.account, s.signature
      )
      ORDER BY place
      RETURNING report_id, received_at, octet_length(body) AS bytes
    )
    INSERT INTO inbox_queue (due_at, report_ids, bytes)
    SELECT min(received_at), array_agg(report_id ORDER BY report_id), sum(bytes)
    FROM (
      SELECT *, sum(bytes) OVER in_order AS bytes_so_far, row_number() OVER in_order AS place
      FROM stored
      WINDOW in_order AS (ORDER BY report_id ROWS UNBOUNDED PRECEDING)
    ) sized
    GROUP BY div(bytes_so_far, ${entryBytes}), div(place, ${entryReports})
    `,
    values: [
      batch,
      reports.map(({ account }) => account),
      reports.map(({ receivedAt }) => receivedAt),
      reports.map(({ method }) => method),
      reports.map(({ contentType }) => contentType),
      reports.map(({ headers }) => JSON.stringify(headers)),
      reports.map(({ body }) => body),
      reports.map(({ signature }) => signature ?? null),
    ],
  });
}

/** Forgets batches that nobody tries any more. */
export async function forgetBatches(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM inbox_batches WHERE received_at < $1', [receivedBefore]);
}

/** Forgets signed calls whose signatures hold no more. */
export async function forgetSignedCalls(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM signed_calls WHERE received_at < $1', [receivedBefore]);
}

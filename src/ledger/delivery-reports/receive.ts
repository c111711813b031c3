import type pg from 'pg';
import type { DeliveryReportMethod } from '../../domain/delivery-reports.ts';
import { batchOf } from '../batch.ts';
import { storeAndQueue } from './blocks.ts';

/** One call of the webhook. */
export type ReceivedCall = {
  readonly account: string;
  readonly receivedAt: Date;
  readonly method: DeliveryReportMethod;
  /** As sent; '' without one. */
  readonly contentType: string;
  /** Names in lower case, without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The raw bytes; of a GET those of the query string, without the "?". */
  readonly body: Buffer;
  /** Digest of the signed content, to recognise duplicates. */
  readonly signature?: Buffer;
};

/**
 * Commits raw delivery reports to the inbox in order, all or none, without signed duplicates, as one block or few. Only then
 * may the receiver answer 2xx (rule 5). A repeated call with the same batch changes nothing, so the caller can retry.
 *
 * @param batch a new UUID for these reports
 */
export async function receiveDeliveryReports(
  pool: pg.Pool,
  batch: string,
  reports: readonly ReceivedCall[],
): Promise<void> {
  let end = 1;
  const withOffsets = reports.map((report): ReportWithOffset => {
    const start = end;
    end += report.body.byteLength;
    return { ...report, start };
  });
  // One value: an array of bytes would travel as text of twice the length.
  const bodies = Buffer.concat(reports.map(({ body }) => body));
  await pool.query({
    name: 'receive-reports',
    text: receiveStatement,
    values: [batch, bodies, ...calls.values(withOffsets)],
  });
}

type ReportWithOffset = ReceivedCall & {
  /** Offset of its body, from 1. */
  readonly start: number;
};

const calls = batchOf<ReportWithOffset>({
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  method: ['text', ({ method }) => method],
  content_type: ['text', ({ contentType }) => contentType],
  headers: ['json', ({ headers }) => JSON.stringify(headers)],
  signature: ['bytea', ({ signature }) => signature ?? null],
  start: ['integer', ({ start }) => start],
  bytes: ['integer', ({ body }) => body.byteLength],
});

const receiveStatement = `
  WITH new_batch AS (
    INSERT INTO inbox_batches (batch, received_at) VALUES ($1, ($4::timestamptz[])[1])
    ON CONFLICT DO NOTHING
    RETURNING batch
  ), received AS MATERIALIZED (
    SELECT calls.*
    FROM new_batch
    CROSS JOIN ${calls.table('calls', 3, 'index')}
  ), signed AS (
    -- In key order, to avoid deadlocks.
    INSERT INTO signed_calls (account, digest, received_at)
    SELECT account, signature, min(received_at)
    FROM received
    WHERE signature IS NOT NULL
    GROUP BY account, signature
    ORDER BY account, signature
    ON CONFLICT DO NOTHING
    RETURNING account, digest
  ), accepted AS (
    SELECT index, account, received_at, method, content_type, headers, substr($2::bytea, start, bytes) AS body
    FROM received
    WHERE signature IS NULL OR index IN (
      SELECT min(r.index)
      FROM received r
      JOIN signed n ON n.account = r.account AND n.digest = r.signature
      GROUP BY r.account, r.signature
    )
  )${storeAndQueue('accepted', 'first_received_at')}
`;

export async function deleteBatches(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM inbox_batches WHERE received_at < $1', [receivedBefore]);
}

export async function deleteSignedCalls(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM signed_calls WHERE received_at < $1', [receivedBefore]);
}

import type pg from 'pg';
import type { DeliveryReportMethod } from '../../domain/delivery-reports.ts';
import { batchOf } from '../batch.ts';
import { maxBlockBytes, maxBlockCalls, queueBlocks, storeAndQueue } from './inbox-blocks.ts';

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
 * Commits calls to the inbox in order, all or none, without signed duplicates, as one block or few. Only then may the
 * receiver answer 2xx (rule 5a). If this is called again with the same batch, nothing changes, so the caller can retry.
 *
 * @param batch a new UUID for these calls
 */
export async function receiveDeliveryReports(
  pool: pg.Pool,
  batch: string,
  calls: readonly ReceivedCall[],
): Promise<void> {
  let end = 1;
  const withOffsets = calls.map((call): CallWithOffset => {
    const start = end;
    end += call.body.byteLength;
    return { ...call, start };
  });
  // One value: an array of bytes would travel as text of twice the length.
  const bodies = Buffer.concat(calls.map(({ body }) => body));
  const isPlain =
    calls.length <= maxBlockCalls &&
    bodies.byteLength <= maxBlockBytes &&
    calls.every(({ signature }) => signature === undefined);
  await pool.query({
    ...(isPlain ? receivePlain : receiveAny),
    values: [batch, bodies, ...columns.values(withOffsets)],
  });
}

type CallWithOffset = ReceivedCall & {
  /** Offset of its body, from 1. */
  readonly start: number;
};

const columns = batchOf<CallWithOffset>({
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  method: ['text', ({ method }) => method],
  content_type: ['text', ({ contentType }) => contentType],
  headers: ['json', ({ headers }) => JSON.stringify(headers)],
  signature: ['bytea', ({ signature }) => signature ?? null],
  start: ['integer', ({ start }) => start],
  bytes: ['integer', ({ body }) => body.byteLength],
});

/** Calls of one block without signatures: their arrays are stored as they are, for a fifth less processor time. */
const receivePlain = {
  name: 'receive-plain-reports',
  text: `
  WITH new_batch AS (
    INSERT INTO inbox_batches (batch, received_at) VALUES ($1, ($4::timestamptz[])[1])
    ON CONFLICT DO NOTHING
    RETURNING batch
  ), stored AS (
    INSERT INTO inbox_blocks (first_report, calls, bytes, first_received_at, last_received_at, accounts, received_at,
                              methods, content_types, headers, bodies)
    SELECT nextval('report_ids'), cardinality(c.accounts), octet_length($2::bytea), c.received_at[1],
           c.received_at[cardinality(c.accounts)], c.accounts, c.received_at, c.methods, c.content_types, c.headers,
           ARRAY(SELECT substr($2, start, bytes) FROM unnest(c.starts, c.lengths) AS b (start, bytes))
    FROM new_batch
    CROSS JOIN (
      VALUES ($3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::json[], $8::bytea[], $9::integer[], $10::integer[])
    ) AS c (accounts, received_at, methods, content_types, headers, signatures, starts, lengths)
    RETURNING first_report, calls, bytes, first_received_at
  )
  ${queueBlocks('first_received_at')}
`,
};

const receiveAny = {
  name: 'receive-reports',
  text: `
  WITH new_batch AS (
    INSERT INTO inbox_batches (batch, received_at) VALUES ($1, ($4::timestamptz[])[1])
    ON CONFLICT DO NOTHING
    RETURNING batch
  ), received AS MATERIALIZED (
    SELECT calls.*
    FROM new_batch
    CROSS JOIN ${columns.table('calls', 3, 'index')}
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
  ), ${storeAndQueue('accepted', 'first_received_at')}
`,
};

export async function deleteBatches(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM inbox_batches WHERE received_at < $1', [receivedBefore]);
}

export async function deleteSignedCalls(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM signed_calls WHERE received_at < $1', [receivedBefore]);
}

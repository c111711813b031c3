import type pg from 'pg';
import type { DeliveryReportMethod } from '../../domain/delivery-reports.ts';
import { batchOf, toArrayParameter } from '../batch.ts';
import { type Connection, inTransaction, type Transaction } from '../session.ts';

/** Bytes of the bodies in a block, unless it has only one. */
const maxBlockBytes = 1024 * 1024;

/** A block's ids are `report_ids`' next number and those after it, up to the next one. */
const maxBlockCalls = 256;

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
  const [block, ...others] = divideIntoBlocks(calls);
  if (block === undefined) return;
  if (others.length === 0 && block.every(({ signature }) => signature === undefined))
    return storeBlock(pool, batch, block);
  await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      'INSERT INTO inbox_batches (batch, received_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [batch, block[0]?.receivedAt],
    );
    if (rowCount === 1) await storeBlocks(client, await removeRepeated(client, calls));
  });
}

/** Adds calls to the inbox, in blocks, and each block to the queue. */
export async function storeBlocks(client: Transaction, calls: readonly ReceivedCall[]): Promise<void> {
  for (const block of divideIntoBlocks(calls)) await storeBlock(client, null, block);
}

function divideIntoBlocks(calls: readonly ReceivedCall[]): ReceivedCall[][] {
  const blocks: ReceivedCall[][] = [];
  let block: ReceivedCall[] = [];
  let bytes = 0;
  for (const call of calls) {
    if (
      block.length === 0 ||
      block.length === maxBlockCalls ||
      bytes + call.body.byteLength > maxBlockBytes
    ) {
      block = [];
      blocks.push(block);
      bytes = 0;
    }
    block.push(call);
    bytes += call.body.byteLength;
  }
  return blocks;
}

const signedCalls = batchOf<ReceivedCall>({
  account: ['text', ({ account }) => account],
  digest: ['bytea', ({ signature }) => signature ?? null],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
});

/** Remembers signed calls. @returns the calls without those that came before */
async function removeRepeated(
  client: Transaction,
  calls: readonly ReceivedCall[],
): Promise<readonly ReceivedCall[]> {
  const { rows } = await client.query<Required<Pick<ReceivedCall, 'account' | 'signature'>>>(
    `
    INSERT INTO signed_calls (account, digest, received_at)
    SELECT account, digest, min(received_at)
    FROM ${signedCalls.table('calls')}
    WHERE digest IS NOT NULL
    GROUP BY account, digest
    ORDER BY account, digest -- in key order, to avoid deadlocks
    ON CONFLICT DO NOTHING
    RETURNING account, digest AS signature
    `,
    signedCalls.values(calls),
  );
  const keyOf = (call: Pick<ReceivedCall, 'account' | 'signature'>): string =>
    `${call.signature?.toString('hex')} ${call.account}`;
  const isNew = new Set(rows.map(keyOf));
  return calls.filter((call) => call.signature === undefined || isNew.delete(keyOf(call)));
}

const columns = batchOf<ReceivedCall>({
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  method: ['text', ({ method }) => method],
  content_type: ['text', ({ contentType }) => contentType],
  headers: ['json', ({ headers }) => JSON.stringify(headers)],
  bytes: ['integer', ({ body }) => body.byteLength],
});

/** @param batch null: the caller recognises a repetition */
async function storeBlock(
  client: Connection,
  batch: string | null,
  calls: readonly ReceivedCall[],
): Promise<void> {
  await client.query({
    name: 'receive-reports',
    text: storeStatement,
    // One value: an array of bytes would travel as text of twice the length.
    values: [
      batch,
      Buffer.concat(calls.map(({ body }) => body)),
      ...columns.values(calls).map(toArrayParameter),
    ],
  });
}

/** The arrays are stored as they are: rows would take a fifth more processor time. */
const storeStatement = `
  WITH new_batch AS (
    INSERT INTO inbox_batches (batch, received_at) VALUES (coalesce($1::uuid, gen_random_uuid()), ($4::timestamptz[])[1])
    ON CONFLICT DO NOTHING
    RETURNING batch
  ), stored AS (
    INSERT INTO inbox_blocks (first_report, calls, bytes, first_received_at, last_received_at, accounts, received_at,
                              methods, content_types, headers, bodies)
    SELECT nextval('report_ids'), cardinality($3::text[]), octet_length($2::bytea), ($4::timestamptz[])[1],
           ($4::timestamptz[])[cardinality($3::text[])], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::json[],
           ARRAY(
             SELECT substr($2::bytea, CAST(1 + sum(bytes) OVER in_order - bytes AS integer), bytes)
             FROM unnest($8::integer[]) WITH ORDINALITY AS b (bytes, place)
             WINDOW in_order AS (ORDER BY place ROWS UNBOUNDED PRECEDING)
           )
    FROM new_batch
    RETURNING first_report, calls, bytes, first_received_at
  )
  INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes)
  SELECT first_received_at, first_report, first_report + calls - 1, calls, bytes
  FROM stored
`;

export async function deleteBatches(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM inbox_batches WHERE received_at < $1', [receivedBefore]);
}

export async function deleteSignedCalls(pool: pg.Pool, receivedBefore: Date): Promise<void> {
  await pool.query('DELETE FROM signed_calls WHERE received_at < $1', [receivedBefore]);
}

import type pg from 'pg';
import { lockBilling } from '../billing/book.ts';
import type { Transaction } from '../session.ts';

/** The first envelope of each payer in a run, which the others of that payer become: an element of both arrays for each. */
export type PayerEnvelopes = { readonly envelopes: readonly number[]; readonly payers: readonly string[] };

/** SQL: what is erased of `envelopes`. */
export const eraseMessage = "fields = '{}', keypads = '[]', files = '[]', audio = '{}'";

/** SQL: all that is left of an envelope `e` after a purge. */
const payerOf = 'CAST(ROW(e.sub_account, e.department, e.charge_code, e.window_index) AS text)';

export async function readPayerEnvelopes(pool: pg.Pool, run: string): Promise<PayerEnvelopes> {
  const { rows } = await pool.query<PayerEnvelopes>(
    `
    SELECT coalesce(array_agg(envelope), '{}') AS envelopes, coalesce(array_agg(payer), '{}') AS payers
    FROM (SELECT min(envelope) AS envelope, ${payerOf} AS payer FROM envelopes e WHERE run_id = $1 GROUP BY payer) p
    `,
    [run],
  );
  return rows[0] ?? { envelopes: [], payers: [] };
}

/** Of purged requests, about so many recipients share a block: Postgres compresses its arrays, and needs no TOAST for them. */
const recipientsPerPurgedBlock = 192;

/**
 * Erases the recipients of a range of requests, and answers of the service, which may quote them. Of each address a
 * mark is left: a delivery report that comes later is still booked. The blocks are merged into larger ones, which name only
 * the first envelope of each payer.
 */
export async function eraseRequests(
  client: Transaction,
  { run, first, last }: { readonly run: string; readonly first: number; readonly last: number },
  { envelopes, payers }: PayerEnvelopes,
): Promise<void> {
  await client.query(deleteJobNumbers, [run, first, last]);
  await client.query(mergeBlocks, [run, first, last, recipientsPerPurgedBlock, envelopes, payers]);
  await client.query(eraseRequestRows, [run, first, last, envelopes, payers]);
  await client.query(
    'UPDATE attempts SET detail = NULL WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND detail IS NOT NULL',
    [run, first, last],
  );
}

/** Of requests with all delivery reports; a report that comes later may name no more than the number. */
const deleteJobNumbers = `
  DELETE FROM job_numbers j
  USING requests_between($1, $2, $3) q
  LEFT JOIN (
    SELECT request, count(*) AS reported FROM recipient_outcomes_between($1, $2, $3) GROUP BY request
  ) o ON o.request = q.request
  WHERE j.job_number = upper(q.reason ->> 'jobNumber') AND j.run_id = $1 AND j.request = q.request
    AND q.recipients <= coalesce(o.reported, 0)
`;

const mergeBlocks = `
  WITH block AS MATERIALIZED (
    SELECT i.*, min(first_request) OVER (PARTITION BY slice, island, part) AS merged
    FROM (
      SELECT b.*, (sum(size) OVER (PARTITION BY slice, island ORDER BY first_request) - 1) / $4 AS part
      FROM (
        SELECT c.*, greatest(cardinality(positions), cardinality(envelopes)) AS size,
               -- The same for blocks of requests without a gap between them.
               last_request - sum(cardinality(envelopes)) OVER (PARTITION BY slice ORDER BY first_request) AS island
        FROM contents c
        WHERE run_id = $1 AND first_request BETWEEN $2 AND $3
      ) b
    ) i
  ), of_requests AS (
    SELECT merged, max(last_request) AS last_request,
           array_agg(p.envelope ORDER BY b.first_request, r.number) AS envelopes,
           array_agg(r.size ORDER BY b.first_request, r.number) AS sizes
    FROM block b
    CROSS JOIN LATERAL unnest(b.envelopes, b.sizes) WITH ORDINALITY AS r (envelope, size, number)
    JOIN envelopes e ON e.run_id = $1 AND e.envelope = r.envelope
    JOIN unnest($5::integer[], $6::text[]) AS p (envelope, payer) ON p.payer = ${payerOf}
    GROUP BY merged
  ), of_recipients AS (
    SELECT merged,
           array_agg(b.first_request + r.request_offset - merged ORDER BY b.first_request, r.number) AS request_offsets,
           array_agg(r.position ORDER BY b.first_request, r.number) AS positions,
           array_agg(r.line ORDER BY b.first_request, r.number) AS lines,
           CASE WHEN bool_or(b.parts IS NOT NULL) THEN
             array_agg(r.parts ORDER BY b.first_request, r.number)
           END AS parts,
           CASE WHEN bool_or(b.tariffs IS NOT NULL) THEN
             array_agg(r.tariff ORDER BY b.first_request, r.number)
           END AS tariffs,
           array_agg(CASE WHEN r.address <> '' THEN address_mark(u.message_key, r.address) ELSE r.mark END
                     ORDER BY b.first_request, r.number) AS address_marks
    FROM block b
    JOIN runs u ON u.run_id = $1
    CROSS JOIN LATERAL unnest(
      b.request_offsets, b.positions, b.lines, b.addresses, b.parts, b.tariffs, b.address_marks
    ) WITH ORDINALITY AS r (request_offset, position, line, address, parts, tariff, mark, number)
    GROUP BY merged
  ), deleted AS (
    DELETE FROM contents c
    USING block b
    WHERE c.run_id = $1 AND c.first_request = b.first_request AND b.first_request <> b.merged
  )
  UPDATE contents c
  SET last_request = q.last_request, envelopes = q.envelopes, sizes = q.sizes,
      request_offsets = coalesce(p.request_offsets, '{}'), positions = coalesce(p.positions, '{}'),
      lines = coalesce(p.lines, '{}'), addresses = NULL, original_addresses = NULL, destinations = NULL,
      parts = p.parts, tariffs = p.tariffs, address_marks = p.address_marks
  FROM of_requests q
  LEFT JOIN of_recipients p USING (merged)
  WHERE c.run_id = $1 AND c.first_request = q.merged
`;

const eraseRequestRows = `
  UPDATE requests q
  SET reason = NULL, envelope = p.envelope
  FROM envelopes e
  JOIN unnest($4::integer[], $5::text[]) AS p (envelope, payer) ON p.payer = ${payerOf}
  WHERE q.run_id = $1 AND q.request BETWEEN $2 AND $3 AND e.run_id = $1 AND e.envelope = q.envelope
    AND (q.reason IS NOT NULL OR q.envelope <> p.envelope)
`;

/**
 * Outcomes of a purged run that are not booked yet get the first envelopes of their payers. All transactions that may have
 * read the former envelope of a request must have ended: the others can go then.
 */
export async function renameUnbookedEnvelopes(
  client: Transaction,
  run: string,
  { envelopes, payers }: PayerEnvelopes,
): Promise<void> {
  // Booking finds its rows by their place.
  await lockBilling(client);
  await client.query(
    `
    UPDATE billing_outcomes o
    SET envelopes = ARRAY(
      SELECT p.envelope
      FROM unnest(o.envelopes) WITH ORDINALITY AS b (envelope, number)
      JOIN envelopes e ON e.run_id = $1 AND e.envelope = b.envelope
      JOIN unnest($2::integer[], $3::text[]) AS p (envelope, payer) ON p.payer = ${payerOf}
      ORDER BY b.number
    )
    WHERE run_id = $1
    `,
    [run, envelopes, payers],
  );
}

export async function eraseJobNumbers(pool: pg.Pool, run: string): Promise<void> {
  await pool.query(
    'UPDATE slice_outcomes SET job_numbers = NULL WHERE run_id = $1 AND job_numbers IS NOT NULL',
    [run],
  );
  await pool.query('UPDATE outcomes SET job_numbers = NULL WHERE run_id = $1 AND job_numbers IS NOT NULL', [
    run,
  ]);
}

/** Recipients of a run that are erased: an element of each array for one. */
export type ErasedRecipients = {
  readonly run: string;
  readonly requests: readonly number[];
  readonly positions: readonly number[];
  /** Regular expression of Postgres that finds the address in words. */
  readonly words: string;
};

/**
 * Erases single recipients, as `eraseRequests` does all of a range. The others of their requests stay as they are.
 * The service's words about a request stay too, if it has other recipients and the words do not contain the address.
 */
export async function eraseRecipients(
  client: Transaction,
  { run, requests, positions, words }: ErasedRecipients,
): Promise<void> {
  await client.query(eraseContents, [run, requests, positions]);
  for (const statement of eraseWords) await client.query(statement, [run, requests, words]);
  await client.query(`UPDATE resolutions SET reason = '' WHERE run_id = $1 AND reason ~* $2`, [run, words]);
}

const eraseContents = `
  WITH erased AS (
    SELECT * FROM unnest($2::integer[], $3::integer[]) AS e (request, position)
  )
  UPDATE contents c
  SET addresses = n.addresses, original_addresses = n.original_addresses, destinations = n.destinations,
      address_marks = n.address_marks
  FROM contents b
  JOIN runs r USING (run_id)
  CROSS JOIN LATERAL (
    SELECT array_agg(CASE WHEN e.request IS NULL THEN m.address ELSE '' END ORDER BY m.ordinal) AS addresses,
           CASE WHEN b.original_addresses IS NOT NULL THEN
             array_agg(CASE WHEN e.request IS NULL THEN m.original_address END ORDER BY m.ordinal)
           END AS original_addresses,
           CASE WHEN b.destinations IS NOT NULL THEN
             '[' || string_agg(CASE WHEN e.request IS NULL THEN CAST(m.destination AS text) ELSE '{}' END, E',\\n' ORDER BY m.ordinal) || ']'
           END AS destinations,
           array_agg(CASE WHEN e.request IS NULL OR m.address = '' THEN m.mark
                          ELSE address_mark(r.message_key, m.address) END ORDER BY m.ordinal) AS address_marks
    FROM ROWS FROM (
      unnest(b.request_offsets, b.positions, b.addresses, b.original_addresses, b.address_marks),
      json_array_elements(CAST(b.destinations AS json))
    ) WITH ORDINALITY AS m (request_offset, position, address, original_address, mark, destination, ordinal)
    LEFT JOIN erased e ON e.request = b.first_request + m.request_offset AND e.position = m.position
  ) n
  WHERE b.run_id = $1 AND c.run_id = $1 AND c.first_request = b.first_request AND b.addresses IS NOT NULL
    AND EXISTS (SELECT FROM erased e WHERE e.request BETWEEN b.first_request AND b.last_request)
`;

const eraseWords = [
  ['requests', 'reason'],
  ['attempts', 'detail'],
].map(
  ([table, words]) => `
  UPDATE ${table} q
  SET ${words} = NULL
  WHERE q.run_id = $1 AND q.request = ANY ($2::integer[]) AND q.${words} IS NOT NULL
    AND (CAST(q.${words} AS text) ~* $3
      OR NOT EXISTS (SELECT FROM recipients_between($1, q.request, q.request) p WHERE p.address <> ''))
`,
);

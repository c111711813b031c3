import type pg from 'pg';
import type { Transaction } from '../session.ts';

/**
 * Erases the recipients of a range of requests, and answers of the service, which may quote them. Of each address a
 * mark is left: a delivery report that comes later is still booked.
 */
export async function eraseRequests(
  client: Transaction,
  { run, first, last }: { readonly run: string; readonly first: number; readonly last: number },
): Promise<void> {
  for (const statement of statements) await client.query(statement, [run, first, last]);
}

const statements = [
  `
  UPDATE contents c
  SET addresses = NULL, original_addresses = NULL, destinations = NULL,
      address_marks = CASE WHEN c.addresses IS NULL THEN c.address_marks ELSE ARRAY(
        SELECT address_mark(r.message_key, n.address)
        FROM unnest(c.addresses) WITH ORDINALITY AS n (address, ordinal)
        ORDER BY n.ordinal
      ) END
  FROM runs r
  WHERE r.run_id = $1 AND c.run_id = $1 AND c.first_request BETWEEN $2 AND $3
  `,
  'UPDATE requests SET reason = NULL WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND reason IS NOT NULL',
  'UPDATE attempts SET detail = NULL WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND detail IS NOT NULL',
];

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

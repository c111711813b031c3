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

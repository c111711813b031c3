import type pg from 'pg';

/** The numbers of the requests that were made, first and last included. */
export type DividedRequests = { readonly first: number; readonly last: number };

/**
 * Divides rejected requests into halves of their own, with new MessageIDs, within the caller's transaction; a slice of
 * the new requests is left waiting, one for each sending window. Who was left out of a request (`cancelled`) stays with it, and so do its attempts
 * and the service's words; everybody else goes into its halves, in order.
 *
 * A request stays whole that is not rejected, has fewer than two recipients left to divide, or that the service may have
 * all the same: it was sent again after it had been in doubt, or a delivery report of it has come. And so does every
 * request of a run that is over, where nobody would send the halves.
 *
 * @returns undefined when nothing was divided
 */
export async function divideRequests(
  client: pg.ClientBase,
  { run, requests }: { readonly run: string; readonly requests: readonly number[] },
): Promise<DividedRequests | undefined> {
  // Numbers are given to one at a time; the statement after it sees those given before.
  const { rowCount } = await client.query(
    `SELECT FROM runs WHERE run_id = $1 AND state IN ('planned', 'running', 'paused') FOR NO KEY UPDATE`,
    [run],
  );
  if (rowCount === 0) return undefined;
  const { rows } = await client.query<{ first: number | null; last: number | null }>(
    `
    WITH rejected AS MATERIALIZED (
      SELECT request, envelope,
             (SELECT window_place FROM envelopes e WHERE e.run_id = $1 AND e.envelope = q.envelope) AS window_place
      FROM requests q
      WHERE run_id = $1 AND request = ANY ($2::integer[]) AND state = 'rejected' AND resends = 0
        AND NOT EXISTS (
          SELECT FROM recipient_outcomes o
          WHERE o.run_id = $1 AND o.request = q.request AND o.outcome <> 'cancelled'
        )
      FOR UPDATE
    ), member AS MATERIALIZED (
      SELECT q.request, q.envelope, q.window_place, r.*, c.tariffs IS NOT NULL AS has_tariffs, o.position IS NULL AS divided
      FROM rejected q
      JOIN chunks c ON c.run_id = $1 AND c.request = q.request
      CROSS JOIN LATERAL ROWS FROM (
        unnest(c.lines, c.addresses, c.original_addresses, c.parts, c.tariffs),
        json_array_elements(CAST(c.destinations AS json))
      ) WITH ORDINALITY AS r (line, address, original_address, parts, tariff, destination, position)
      LEFT JOIN recipient_outcomes o
        ON o.run_id = $1 AND o.request = q.request AND o.position = r.position
    ), placed AS MATERIALIZED (
      SELECT *, count(*) FILTER (WHERE divided) OVER (PARTITION BY request) AS size,
             row_number() OVER (PARTITION BY request, divided ORDER BY position) AS place
      FROM member
    ), piece AS MATERIALIZED (
      -- Half 0 is what stays with the request.
      SELECT request, envelope, window_place, half, count(*) AS recipients, array_agg(line ORDER BY position) AS lines,
             array_agg(address ORDER BY position) AS addresses,
             array_agg(original_address ORDER BY position) AS original_addresses,
             array_agg(parts ORDER BY position) AS parts,
             CASE WHEN bool_and(has_tariffs) THEN array_agg(tariff ORDER BY position) END AS tariffs,
             -- A value of type json keeps its text as it was written.
             '[' || string_agg(CAST(destination AS text), ',' ORDER BY position) || ']' AS destinations
      FROM placed
      CROSS JOIN LATERAL (
        SELECT CASE WHEN NOT divided THEN 0 WHEN place <= (size + 1) / 2 THEN 1 ELSE 2 END AS half
      ) halved
      WHERE size >= 2
      GROUP BY request, envelope, window_place, half
    ), numbered AS MATERIALIZED (
      SELECT piece.*, CAST(highest + row_number() OVER (ORDER BY window_place, request, half) AS integer) AS number
      FROM piece, (SELECT max(request) AS highest FROM requests WHERE run_id = $1) given
      WHERE half > 0
    ), new_request AS (
      INSERT INTO requests (run_id, request, message_id, envelope, recipients, divided_from)
      SELECT $1, number, left(encode(sha256(message_key || int4send(number)), 'hex'), 32), envelope, recipients, request
      FROM numbered
      JOIN runs ON run_id = $1
    ), new_chunk AS (
      INSERT INTO chunks (run_id, request, lines, addresses, original_addresses, parts, tariffs, destinations)
      SELECT $1, number, lines, addresses, original_addresses, parts, tariffs, destinations
      FROM numbered
    ), parent AS MATERIALIZED (
      SELECT p.request, coalesce(s.recipients, 0) AS recipients, coalesce(s.lines, '{}') AS lines,
             coalesce(s.addresses, '{}') AS addresses, coalesce(s.original_addresses, '{}') AS original_addresses,
             coalesce(s.parts, '{}') AS parts, s.tariffs, coalesce(s.destinations, '[]') AS destinations
      FROM piece p
      LEFT JOIN piece s ON s.request = p.request AND s.half = 0
      WHERE p.half = 1
    ), parent_request AS (
      UPDATE requests q
      SET recipients = p.recipients
      FROM parent p
      WHERE q.run_id = $1 AND q.request = p.request
    ), parent_chunk AS (
      UPDATE chunks c
      SET lines = p.lines, addresses = p.addresses, original_addresses = p.original_addresses, parts = p.parts,
          tariffs = p.tariffs, destinations = p.destinations
      FROM parent p
      WHERE c.run_id = $1 AND c.request = p.request
    ), renumbered AS (
      -- Negative as long as their old numbers are in the way of the new ones.
      UPDATE recipient_outcomes o
      SET position = -place
      FROM placed p
      WHERE o.run_id = $1 AND o.request = p.request AND o.position = p.position AND NOT p.divided AND p.size >= 2
    ), new_slice AS (
      INSERT INTO slices (run_id, slice, first_request, last_request, state, window_place)
      SELECT $1, (SELECT coalesce(max(slice), 0) FROM slices WHERE run_id = $1) + row_number() OVER (ORDER BY min(number)),
             min(number), max(number), 'waiting', window_place
      FROM numbered
      GROUP BY window_place
    )
    SELECT min(number) AS first, max(number) AS last
    FROM numbered
    `,
    [run, requests],
  );
  const { first = null, last = null } = rows[0] ?? {};
  if (first === null || last === null) return undefined;
  await client.query(
    `
    UPDATE recipient_outcomes
    SET position = -position
    WHERE run_id = $1 AND request = ANY ($2::integer[]) AND position < 0
    `,
    [run, requests],
  );
  return { first, last };
}

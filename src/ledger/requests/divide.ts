import { hasEnded } from '../../domain/runs.ts';
import { recordReopenedRequests } from '../billing/changes.ts';
import { recipientArrays } from '../request-rows.ts';
import { lockRun } from '../run-states/transitions.ts';
import type { Transaction } from '../session.ts';

export type DividedRequests = { readonly first: number; readonly last: number };

/**
 * Divides the recipients of rejected requests into two new requests each, in order; those of each sending window and
 * variant form a waiting slice, apart from those of the canary. Suppressed recipients, attempts and the service's answer
 * stay with the old request.
 *
 * A request stays whole if it has fewer than two other recipients, or may have been accepted: it was resent, or has a
 * delivery report. So does every request of a run that is over.
 *
 * @returns undefined if nothing was divided
 */
export async function divideRequests(
  client: Transaction,
  { run, requests }: { readonly run: string; readonly requests: readonly number[] },
): Promise<DividedRequests | undefined> {
  // After the lock, the next statement sees the numbers of earlier divisions.
  const state = await lockRun(client, run);
  if (state === undefined || hasEnded(state)) return undefined;
  const { rows } = await client.query<{ first: number | null; last: number | null }>(divideStatement, [
    run,
    requests,
  ]);
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

/** SQL: `member`, the recipients to divide; `piece`, their arrays by half; `numbered`, the new requests. */
const halves = `
  WITH rejected AS MATERIALIZED (
    SELECT q.request, q.envelope, e.window_index, e.variant,
           (SELECT is_canary FROM slices s WHERE s.run_id = $1 AND q.request BETWEEN s.first_request AND s.last_request) AS is_canary
    FROM requests q
    JOIN envelopes e USING (run_id, envelope)
    WHERE run_id = $1 AND request = ANY ($2::integer[]) AND state = 'rejected' AND resends = 0
      AND NOT EXISTS (
        SELECT FROM recipient_outcomes o
        WHERE o.run_id = $1 AND o.request = q.request AND o.outcome <> 'cancelled'
      )
    FOR UPDATE OF q
  ), member AS MATERIALIZED (
    SELECT q.request, q.envelope, q.window_index, q.variant, q.is_canary, r.*, o.position IS NULL AS divided
    FROM rejected q
    CROSS JOIN LATERAL chunks_between($1, q.request, q.request) c
    CROSS JOIN LATERAL ROWS FROM (
      unnest(c.lines, c.addresses, c.original_addresses, c.parts, c.tariffs),
      json_array_elements(CAST(c.destinations AS json))
    ) WITH ORDINALITY AS r (line, address, original_address, parts, tariff, destination, position)
    LEFT JOIN recipient_outcomes o
      ON o.run_id = $1 AND o.request = q.request AND o.position = r.position
  ), numbered_member AS MATERIALIZED (
    SELECT *, count(*) FILTER (WHERE divided) OVER (PARTITION BY request) AS size,
           row_number() OVER (PARTITION BY request, divided ORDER BY position) AS ordinal
    FROM member
  ), piece AS MATERIALIZED (
    -- Half 0 stays with the request.
    SELECT request, envelope, window_index, variant, is_canary, half, CAST(count(*) AS smallint) AS recipients,
           ${recipientArrays}
    FROM numbered_member
    CROSS JOIN LATERAL (
      SELECT CASE WHEN NOT divided THEN 0 WHEN ordinal <= (size + 1) / 2 THEN 1 ELSE 2 END AS half
    ) halved
    WHERE size >= 2
    GROUP BY request, envelope, window_index, variant, is_canary, half
  ), numbered AS MATERIALIZED (
    SELECT piece.*, CAST(highest + row_number() OVER (ORDER BY window_index, is_canary, variant, request, half) AS integer)
             AS number,
           highest_slice + dense_rank() OVER (ORDER BY window_index, is_canary, variant) AS slice
    FROM piece,
         (SELECT max(last_request) AS highest, max(slice) AS highest_slice FROM slices WHERE run_id = $1) given
    WHERE half > 0
  )`;

const newRequests = `
  new_request AS (
    INSERT INTO requests (run_id, request, envelope, recipients, divided_from)
    SELECT $1, number, envelope, recipients, request
    FROM numbered
    RETURNING run_id, request
  ), parent_request AS (
    UPDATE requests q
    SET recipients = coalesce(s.recipients, 0)
    FROM piece p
    LEFT JOIN piece s ON s.request = p.request AND s.half = 0
    WHERE p.half = 1 AND q.run_id = $1 AND q.request = p.request
    RETURNING q.run_id, q.request
  ), opened AS (
    ${recordReopenedRequests('(TABLE new_request UNION ALL TABLE parent_request)')}
  )`;

const newContents = `
  new_content AS (
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, original_addresses, parts, tariffs, destinations)
    SELECT $1, number, number, slice, ARRAY[envelope], ARRAY[recipients], array_fill(0, ARRAY[recipients]),
           ARRAY(SELECT generate_series(1, recipients)), lines, addresses, original_addresses, parts, tariffs,
           destinations
    FROM numbered
  )`;

/** SQL: the old blocks without the divided recipients. */
const rewrittenContents = `
  block AS MATERIALIZED (
    SELECT DISTINCT c.*
    FROM piece p
    CROSS JOIN LATERAL contents_between($1, p.request, p.request) c
  ), kept AS MATERIALIZED (
    -- The recipients that stay.
    SELECT b.first_request, b.first_request + r.request_offset AS request, coalesce(p.ordinal, r.position) AS position,
           r.line, r.address, r.original_address, r.parts, r.tariff, r.destination
    FROM block b
    CROSS JOIN LATERAL ROWS FROM (
      unnest(
        b.request_offsets, b.positions, b.lines, b.addresses, b.original_addresses, b.parts, b.tariffs
      ),
      json_array_elements(CAST(b.destinations AS json))
    ) AS r (request_offset, position, line, address, original_address, parts, tariff, destination)
    LEFT JOIN numbered_member p
      ON p.request = b.first_request + r.request_offset AND p.position = r.position AND p.size >= 2
    WHERE p.divided IS NOT TRUE
  ), rewritten AS (
    UPDATE contents c
    SET sizes = k.sizes, request_offsets = k.request_offsets, positions = k.positions, lines = k.lines,
        addresses = k.addresses, original_addresses = k.original_addresses, parts = k.parts, tariffs = k.tariffs,
        destinations = k.destinations
    FROM block b
    CROSS JOIN LATERAL (
      SELECT ARRAY(
               SELECT (SELECT count(*) FROM kept WHERE request = numbered_request)
               FROM generate_series(b.first_request, b.last_request) AS numbered_request
             ) AS sizes,
             coalesce(array_agg(request - b.first_request ORDER BY request, position), '{}') AS request_offsets,
             coalesce(array_agg(position ORDER BY request, position), '{}') AS positions,
             ${recipientArrays}
      FROM kept
      WHERE first_request = b.first_request
    ) k
    WHERE c.run_id = $1 AND c.first_request = b.first_request
  ), renumbered AS (
    -- Negative until the old positions are free; divideRequests turns the sign.
    UPDATE recipient_outcomes o
    SET position = -ordinal
    FROM numbered_member p
    WHERE o.run_id = $1 AND o.request = p.request AND o.position = p.position AND NOT p.divided AND p.size >= 2
  ), new_slice AS (
    INSERT INTO slices (run_id, slice, first_request, last_request, claimed_to, state, window_index, is_canary, variant)
    SELECT $1, slice, min(number), max(number), max(number), 'waiting', window_index, is_canary, variant
    FROM numbered
    GROUP BY slice, window_index, is_canary, variant
  )`;

const divideStatement = `
  ${halves}, ${newRequests}, ${newContents}, ${rewrittenContents}
  SELECT min(number) AS first, max(number) AS last
  FROM numbered
`;

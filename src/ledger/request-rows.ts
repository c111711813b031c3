/** SQL: the range of all requests. */
export const everyRequest = '1, 2147483647';

/**
 * SQL to join: a request. LIMIT makes it a lookup for each row. Of a range Postgres expects 0.5% of the table, and
 * may join every request of a run with every other.
 */
export function requestOf(run: string, request: string): string {
  return `LATERAL (SELECT * FROM requests_between(${run}, ${request}, ${request}) LIMIT 1)`;
}

export function recipientsOf(run: string, request: string): string {
  return `LATERAL (SELECT * FROM recipients_between(${run}, ${request}, ${request}) OFFSET 0)`;
}

/** SQL to join: a recipient. It finds the element, where `recipients_between` makes rows of all recipients in the block. */
export function recipientOf(run: string, request: string, position: string): string {
  return `LATERAL (
    SELECT c.lines[i.index] AS line, c.addresses[i.index] AS address, c.original_addresses[i.index] AS original_address,
           c.parts[i.index] AS parts, c.tariffs[i.index] AS tariff
    FROM contents_between(${run}, ${request}, ${request}) c
    CROSS JOIN LATERAL (
      SELECT array_position(
               c.positions, CAST(${position} AS smallint),
               coalesce(array_position(c.request_offsets, CAST(${request} - c.first_request AS smallint)), 1)
             ) AS index
      OFFSET 0
    ) i
    WHERE c.first_request + c.request_offsets[i.index] = ${request}
    LIMIT 1
  )`;
}

export function attemptsOf(run: string, request: string): string {
  return `LATERAL (SELECT * FROM attempts_between(${run}, ${request}, ${request}) OFFSET 0)`;
}

export function attemptOf(run: string, request: string, attempt: string): string {
  return `LATERAL (SELECT * FROM attempts_between(${run}, ${request}, ${request}) s WHERE s.attempt = ${attempt} LIMIT 1)`;
}

/** SQL to join: outcomes of single recipients, folded or not. */
export function outcomesOf(run: string, request: string): string {
  return `LATERAL (SELECT * FROM recipient_outcomes_between(${run}, ${request}, ${request}) OFFSET 0)`;
}

export function outcomeOf(run: string, request: string, position: string): string {
  return `LATERAL (SELECT * FROM recipient_outcomes_between(${run}, ${request}, ${request}) s WHERE s.position = ${position} LIMIT 1)`;
}

/** SQL to join: the contact file of a line; lines count across files. */
export function contactFileOf(run: string, line: string): string {
  return `LATERAL (
    SELECT name, lines_before
    FROM contact_files
    WHERE run_id = ${run} AND lines_before < ${line}
    ORDER BY lines_before DESC
    LIMIT 1
  )`;
}

/**
 * SQL to join: `accepted`, true if rows show an acceptance; `state` and `is_unsent` of the request's row, or null;
 * `is_unclaimed` for a request without a row. An `accepted` of false proves nothing: see `requestOf`.
 */
export function acceptanceOf(run: string, request: string, slice?: string): string {
  return `LATERAL (
    SELECT CASE
             WHEN q.request IS NOT NULL THEN q.state = 'accepted'
             WHEN s.claimed_to < s.asked THEN false
             -- Every other request that was claimed has a row by then, also if the slice is sent again.
             WHEN s.state = 'done' OR EXISTS (
               SELECT FROM slice_outcomes k WHERE k.run_id = s.run_id AND k.slice = s.slice
             ) THEN true
             ELSE EXISTS (
               SELECT FROM outcomes b
               WHERE b.run_id = s.run_id AND b.slice = s.slice AND s.asked = ANY (b.requests)
               OFFSET 0
             )
           END AS accepted, q.state, q.attempts = 0 AND q.state IN ('planned', 'cancelled') AS is_unsent,
           s.claimed_to < s.asked AS is_unclaimed
    FROM (
      -- No other part names what is asked for, because a caller's names may be those of this text.
      SELECT *, ${request} AS asked
      FROM slices
      WHERE run_id = ${run} AND ${slice === undefined ? `first_request <= ${request}` : `slice = ${slice}`}
      ORDER BY first_request DESC
      LIMIT 1
    ) s
    LEFT JOIN LATERAL (
      SELECT request, state, attempts FROM requests WHERE run_id = s.run_id AND request = s.asked LIMIT 1
    ) q ON true
  )`;
}

/**
 * SQL: the columns of `contents` from rows of `request`, `position`, `line`, `address`, `original_address`, `parts`,
 * `tariff` and `destination` (null: {}). A column without any value is NULL.
 */
export const recipientArrays = `
  coalesce(array_agg(line ORDER BY request, position), '{}') AS lines,
  coalesce(array_agg(address ORDER BY request, position), '{}') AS addresses,
  CASE WHEN count(original_address) > 0 THEN
    array_agg(original_address ORDER BY request, position)
  END AS original_addresses,
  CASE WHEN count(parts) > 0 THEN array_agg(parts ORDER BY request, position) END AS parts,
  CASE WHEN count(tariff) > 0 THEN array_agg(tariff ORDER BY request, position) END AS tariffs,
  CASE WHEN bool_or(CAST(destination AS text) <> '{}') THEN
    '[' || string_agg(coalesce(CAST(destination AS text), '{}'), E',\\n' ORDER BY request, position) || ']'
  END AS destinations`;

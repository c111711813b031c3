import type pg from 'pg';
import { doubtsSlice } from '../requests/orphans.ts';

/** Requests in a slice: few enough to be shared out and taken over soon, enough for its bookkeeping not to count. */
export const requestsInSlice = 1_000;

/** SQL: the ranges of requests that share no slice: all of a run without windows, else those of each window. */
const borders = {
  whole: 'SELECT CAST(NULL AS smallint), CAST(1 AS integer), max(request) FROM requests WHERE run_id = $1',
  windowed: `
    SELECT window_place, min(request), max(request)
    FROM requests
    JOIN envelopes USING (run_id, envelope)
    WHERE run_id = $1
    GROUP BY window_place`,
};

/**
 * Cuts a run's requests into slices, none of them in the queue yet.
 *
 * @param first requests of the first slice, where those are to be sent and waited for before any other; where its window
 *   has fewer, they are fewer
 */
export async function planSlices(
  client: pg.ClientBase,
  run: string,
  first: number | null,
  windowed = false,
): Promise<void> {
  await client.query(
    `
    WITH range (window_place, low, high) AS (
      ${windowed ? borders.windowed : borders.whole}
    ), cut AS (
      -- Up to where its first slice goes.
      SELECT *, least(low - 1 + CASE low WHEN 1 THEN coalesce($2::integer, $3) ELSE $3 END, high) AS first_until
      FROM range
      WHERE high > 0
    ), piece AS (
      SELECT low AS first, first_until AS last, window_place FROM cut
      UNION ALL
      SELECT first_until + 1 + place * $3, least(first_until + (place + 1) * $3, high), window_place
      FROM cut, generate_series(0, (high - first_until + $3 - 1) / $3 - 1) AS place
    )
    INSERT INTO slices (run_id, slice, first_request, last_request, state, window_place)
    SELECT $1, row_number() OVER (ORDER BY first), first, last, 'waiting', window_place
    FROM piece
    UNION ALL
    SELECT $1, $4, 1, greatest((SELECT max(high) FROM range), 1), 'waiting', NULL
    `,
    [run, first, requestsInSlice, doubtsSlice],
  );
}

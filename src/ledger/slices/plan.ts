import type pg from 'pg';

/** Requests in a slice: few enough to be shared out and taken over soon, enough for its bookkeeping not to count. */
export const requestsInSlice = 1_000;

/** The slice of the requests in doubt of a whole run. */
export const doubtsSlice = 0;

/**
 * Cuts a run's requests into slices, none of them in the queue yet.
 *
 * @param first requests of the first slice, where those are to be sent and waited for before any other
 */
export async function planSlices(client: pg.ClientBase, run: string, first: number | null): Promise<void> {
  await client.query(
    `
    WITH run AS (
      SELECT max(request) AS requests, coalesce($2::integer, $3) AS first FROM requests WHERE run_id = $1
    )
    INSERT INTO slices (run_id, slice, first_request, last_request, state)
    SELECT $1, 1, 1, least(first, requests), 'waiting'
    FROM run
    WHERE requests > 0
    UNION ALL
    SELECT $1, 2 + place, first + 1 + place * $3, least(first + (place + 1) * $3, requests), 'waiting'
    FROM run, generate_series(0, (requests - first + $3 - 1) / $3 - 1) AS place
    WHERE requests > first
    UNION ALL
    SELECT $1, $4, 1, greatest(requests, 1), 'waiting'
    FROM run
    `,
    [run, first, requestsInSlice, doubtsSlice],
  );
}

import type { Transaction } from '../session.ts';

/**
 * Takes an eighth of the requests, so that small runs send as much at once as large ones. The minimum limits overhead; the
 * maximum lets other runs take turns.
 */
export function sliceSize(total: number): number {
  return Math.max(100, Math.min(2_000, Math.ceil(total / 8)));
}

/** The whole run, or the requests of one window. */
export type SliceableRange = {
  readonly first: number;
  readonly last: number;
  readonly windowIndex: number | null;
};

/**
 * Cuts a run into waiting slices. The last one, without requests, is the phase that settles doubts.
 *
 * @param ranges contiguous, from request 1
 * @param firstRequests maximum of requests in a first slice that must be done before others begin
 */
export async function planSlices(
  client: Transaction,
  run: string,
  ranges: readonly SliceableRange[],
  firstRequests: number | null,
): Promise<void> {
  await client.query(
    `
    WITH cut AS (
      SELECT low, high, window_index,
             -- The end of its first slice.
             least(low - 1 + CASE low WHEN 1 THEN coalesce($2::integer, $3) ELSE $3 END, high) AS first_until
      FROM unnest($4::integer[], $5::integer[], $6::smallint[]) AS range (low, high, window_index)
    ), piece AS (
      SELECT low AS first, first_until AS last, window_index FROM cut
      UNION ALL
      SELECT first_until + 1 + index * $3, least(first_until + (index + 1) * $3, high), window_index
      FROM cut, generate_series(0, (high - first_until + $3 - 1) / $3 - 1) AS index
    )
    INSERT INTO slices (run_id, slice, phase, first_request, last_request, claimed_to, state, window_index)
    SELECT $1, row_number() OVER (ORDER BY first), 'sending', first, last, first - 1, 'waiting', window_index
    FROM piece
    UNION ALL
    SELECT $1, (SELECT count(*) + 1 FROM piece), 'settling doubts', NULL, NULL, NULL, 'waiting', NULL
    `,
    [
      run,
      firstRequests,
      sliceSize(ranges.at(-1)?.last ?? 0),
      ranges.map(({ first }) => first),
      ranges.map(({ last }) => last),
      ranges.map(({ windowIndex }) => windowIndex),
    ],
  );
}

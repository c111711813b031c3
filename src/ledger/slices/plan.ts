import type { Transaction } from '../session.ts';

/**
 * Requests in a slice of a run that has so many in all: an eighth of them, so that a small run has as many in flight as a large
 * one; not so few that a slice's bookkeeping counts, nor so many that the next run waits long for its turn.
 */
export function sliceSize(total: number): number {
  return Math.max(100, Math.min(2_000, Math.ceil(total / 8)));
}

/** Requests that share no slice with others: all of a run without windows, else those of each window. */
export type SliceableRange = {
  readonly first: number;
  readonly last: number;
  readonly windowIndex: number | null;
};

/**
 * Cuts a run's requests into slices, none of them in the queue yet. The last one has no requests: it is the phase in which
 * those in doubt are settled, once all others are done.
 *
 * @param ranges one after the other, from request 1
 * @param canary requests of the first slice, where those are to be sent and waited for before any other; where its window
 *   has fewer, they are fewer
 */
export async function planSlices(
  client: Transaction,
  run: string,
  ranges: readonly SliceableRange[],
  canary: number | null,
): Promise<void> {
  await client.query(
    `
    WITH cut AS (
      SELECT low, high, window_index,
             -- Up to where its first slice goes.
             least(low - 1 + CASE low WHEN 1 THEN coalesce($2::integer, $3) ELSE $3 END, high) AS first_until
      FROM unnest($4::integer[], $5::integer[], $6::smallint[]) AS range (low, high, window_index)
    ), piece AS (
      SELECT low AS first, first_until AS last, window_index FROM cut
      UNION ALL
      SELECT first_until + 1 + place * $3, least(first_until + (place + 1) * $3, high), window_index
      FROM cut, generate_series(0, (high - first_until + $3 - 1) / $3 - 1) AS place
    )
    INSERT INTO slices (run_id, slice, phase, first_request, last_request, claimed_to, state, window_index)
    SELECT $1, row_number() OVER (ORDER BY first), 'sending', first, last, first - 1, 'waiting', window_index
    FROM piece
    UNION ALL
    SELECT $1, (SELECT count(*) + 1 FROM piece), 'settling doubts', NULL, NULL, NULL, 'waiting', NULL
    `,
    [
      run,
      canary,
      sliceSize(ranges.at(-1)?.last ?? 0),
      ranges.map(({ first }) => first),
      ranges.map(({ last }) => last),
      ranges.map(({ windowIndex }) => windowIndex),
    ],
  );
}

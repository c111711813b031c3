import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';

/**
 * Takes an eighth of the requests, so that small runs send as much at once as large ones. The minimum limits overhead; the
 * maximum lets other runs take turns.
 */
export function sliceSize(total: number): number {
  return Math.max(100, Math.min(2_000, Math.ceil(total / 8)));
}

/** The whole run, or the requests of one window and one variant; without or only with those of the canary. */
export type SliceableRange = {
  readonly isCanary: boolean;
  readonly first: number;
  readonly last: number;
  readonly windowIndex: number | null;
  readonly variant: number | null;
};

const sizedRanges = batchOf<SliceableRange & { readonly size: number }>({
  low: ['integer', ({ first }) => first],
  high: ['integer', ({ last }) => last],
  window_index: ['smallint', ({ windowIndex }) => windowIndex],
  is_canary: ['boolean', ({ isCanary }) => isCanary],
  variant: ['smallint', ({ variant }) => variant],
  size: ['integer', ({ size }) => size],
});

/**
 * Cuts a run into waiting slices; those after a canary are not promoted. The last one, without requests, is the phase
 * that settles doubts.
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
      SELECT *,
             -- The end of its first slice.
             least(low - 1 + CASE low WHEN 1 THEN coalesce($2::integer, size) ELSE size END, high) AS first_until
      FROM ${sizedRanges.table('range', 3)}
    ), piece AS (
      SELECT low AS first, first_until AS last, window_index, is_canary, variant FROM cut
      UNION ALL
      SELECT first_until + 1 + index * size, least(first_until + (index + 1) * size, high), window_index, is_canary, variant
      FROM cut, generate_series(0, (high - first_until + size - 1) / size - 1) AS index
    )
    INSERT INTO slices (run_id, slice, phase, first_request, last_request, claimed_to, state, window_index, is_canary, variant)
    SELECT $1, row_number() OVER (ORDER BY first), 'sending', first, last, first - 1,
           CASE WHEN NOT is_canary AND bool_or(is_canary) OVER () THEN 'unpromoted' ELSE 'waiting' END, window_index, is_canary, variant
    FROM piece
    UNION ALL
    SELECT $1, (SELECT count(*) + 1 FROM piece), 'settling doubts', NULL, NULL, NULL, 'waiting', NULL, false, NULL
    `,
    [
      run,
      firstRequests,
      ...sizedRanges.values(
        ranges.map((range) => ({
          ...range,
          // A canary of few requests is sent by several workers too.
          size: sliceSize(range.isCanary ? range.last - range.first + 1 : (ranges.at(-1)?.last ?? 0)),
        })),
      ),
    ],
  );
}

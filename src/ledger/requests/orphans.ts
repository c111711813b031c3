import type pg from 'pg';

/** A slice by its number, and the requests it has: from the first to the last. */
export type SliceRange = {
  readonly run: string;
  readonly slice: number;
  readonly first: number;
  readonly last: number;
};

/**
 * `sending → in_doubt` for requests whose owner is gone: the caller holds their slice, or its holder is dead, so nobody
 * else can be sending them (rule 2). They may have reached the service, so they are never `planned` again.
 *
 * @returns how many there were
 */
export async function doubtOrphanedRequests(
  client: pg.ClientBase,
  { run, slice, first, last }: SliceRange,
  now: Date,
): Promise<number> {
  const { rowCount } = await client.query(
    `
    WITH orphaned AS (
      UPDATE requests
      SET state = 'in_doubt', owner = NULL, updated_at = $4,
          reason = 'the process that was sending it ended before the answer was recorded'
      WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'sending'
      RETURNING request, attempts, reason
    ), finished AS (
      UPDATE attempts a
      SET finished_at = $4, verdict = 'in_doubt', detail = o.reason
      FROM orphaned o
      WHERE a.run_id = $1 AND a.request = o.request AND a.attempt = o.attempts AND a.finished_at IS NULL
    ), counted AS (
      UPDATE slices
      SET settled = settled + o.requests, not_accepted = not_accepted + o.requests
      FROM (SELECT count(*) AS requests FROM orphaned) o
      WHERE run_id = $1 AND slice = $5 AND o.requests > 0
    )
    SELECT request FROM orphaned
    `,
    [run, first, last, now, slice],
  );
  return rowCount ?? 0;
}

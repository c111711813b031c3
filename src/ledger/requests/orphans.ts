import type pg from 'pg';
import { reportProof } from './proof.ts';

/** A slice by its number, and the requests it has: from the first to the last. */
export type SliceRange = {
  readonly run: string;
  readonly slice: number;
  readonly first: number;
  readonly last: number;
};

/** The slice of the requests in doubt of a whole run. */
export const doubtsSlice = 0;

const reason = 'the process that was sending it ended before the answer was recorded';

/**
 * `sending → in_doubt` for requests whose owner is gone: the caller holds their slice, or its holder is dead, so nobody
 * else can be sending them (rule 2). They may have reached the service, so they are never `planned` again; those of which
 * a delivery report has come did reach it, and are accepted. The slice of the doubts sends nothing itself, and what others
 * send is not in doubt with its holder.
 *
 * @returns how many there were
 */
export async function doubtOrphanedRequests(
  client: pg.ClientBase,
  { run, slice, first, last }: SliceRange,
  now: Date,
): Promise<number> {
  if (slice === doubtsSlice) return 0;
  const { rows } = await client.query<{ request: number; attempts: number }>(
    `
    WITH orphaned AS (
      UPDATE requests
      SET state = CASE WHEN reported THEN 'accepted' ELSE 'in_doubt' END,
          reason = CASE WHEN reported THEN '${reportProof}' ELSE $6 END,
          owner = NULL, updated_at = $4
      WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'sending'
      RETURNING request, attempts, reported
    ), counted AS (
      UPDATE slices
      SET settled = settled + o.requests, not_accepted = not_accepted + o.doubts
      FROM (SELECT count(*) AS requests, count(*) FILTER (WHERE NOT reported) AS doubts FROM orphaned) o
      WHERE run_id = $1 AND slice = $5 AND o.requests > 0
    )
    SELECT request, attempts FROM orphaned
    `,
    [run, first, last, now, slice, reason],
  );
  if (rows.length === 0) return 0;
  // In a statement of its own: the last of a dead process may have begun an attempt while the first one waited for it,
  // and that sees no attempt which was not there when it began.
  await client.query(
    `
    UPDATE attempts a
    SET finished_at = $4, verdict = 'in_doubt', detail = $5
    FROM unnest($2::integer[], $3::integer[]) AS orphaned (request, attempt)
    WHERE a.run_id = $1 AND a.request = orphaned.request AND a.attempt = orphaned.attempt AND a.finished_at IS NULL
    `,
    [run, rows.map(({ request }) => request), rows.map(({ attempts }) => attempts), now, reason],
  );
  return rows.length;
}

import type pg from 'pg';
import { doubtsSlice } from '../slices/plan.ts';
import { reportProof } from './proof.ts';

/** A slice by its number, and the requests it has: from the first to the last. */
export type SliceRange = {
  readonly run: string;
  readonly slice: number;
  readonly first: number;
  readonly last: number;
};

/**
 * `sending → in_doubt` for requests whose owner is gone: the caller holds their slice, or its holder is dead, so nobody
 * else can be sending them (rule 2). They may have reached the service, so they are never `planned` again; those of which
 * a delivery report has come did reach it, and are accepted. The slice of the requests in doubt has none of its own: those
 * in its range belong to the holders of other slices.
 *
 * @returns how many there were
 */
export async function doubtOrphanedRequests(
  client: pg.ClientBase,
  slice: SliceRange,
  now: Date,
): Promise<number> {
  if (slice.slice === doubtsSlice) return 0;
  const reason = 'the process that was sending it ended before the answer was recorded';
  return doubt(client, slice, null, reason, now);
}

/**
 * `sending → in_doubt` for what a holder leaves behind as it gives its slice up: nobody would ever settle it.
 *
 * @returns how many there were
 */
export async function doubtUnfinishedRequests(
  client: pg.ClientBase,
  slice: SliceRange & { readonly owner: string },
  now: Date,
): Promise<number> {
  return doubt(client, slice, slice.owner, 'its worker gave it up before an answer was recorded', now);
}

async function doubt(
  client: pg.ClientBase,
  { run, slice, first, last }: SliceRange,
  owner: string | null,
  reason: string,
  now: Date,
): Promise<number> {
  const { rowCount } = await client.query(
    `
    WITH orphaned AS (
      UPDATE requests
      SET state = CASE WHEN reported THEN 'accepted' ELSE 'in_doubt' END,
          reason = CASE WHEN reported THEN '${reportProof}' ELSE $7 END,
          owner = NULL, updated_at = $4
      WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'sending' AND ($6::uuid IS NULL OR owner = $6)
      RETURNING request, attempts, reported
    ), finished AS (
      UPDATE attempts a
      SET finished_at = $4, verdict = 'in_doubt', detail = $7
      FROM orphaned o
      WHERE a.run_id = $1 AND a.request = o.request AND a.attempt = o.attempts AND a.finished_at IS NULL
    ), counted AS (
      UPDATE slices
      SET settled = settled + o.requests, not_accepted = not_accepted + o.doubts
      FROM (SELECT count(*) AS requests, count(*) FILTER (WHERE NOT reported) AS doubts FROM orphaned) o
      WHERE run_id = $1 AND slice = $5 AND o.requests > 0
    )
    SELECT request FROM orphaned
    `,
    [run, first, last, now, slice, owner, reason],
  );
  return rowCount ?? 0;
}

import { reasonOf } from '../reasons.ts';
import type { Transaction } from '../session.ts';
import { addUnrecordedRows } from './add-rows.ts';
import type { SliceRange } from './slice-range.ts';

/**
 * `sending → in_doubt` for requests whose owner has stopped sending (rule 2), or `accepted` by a delivery report.
 * The caller has locked the slice and changes its owner, so the former owner can record no more.
 *
 * @returns the number of requests
 */
export async function markUnrecordedInDoubt(
  client: Transaction,
  range: SliceRange,
  owner: string,
  now: Date,
): Promise<number> {
  await addUnrecordedRows(client, range, owner);
  const { run, first, last } = range;
  const { rows } = await client.query<{ request: number; attempts: number }>(
    `
    UPDATE requests
    SET state = CASE WHEN reported THEN 'accepted' ELSE 'in_doubt' END,
        reason = CASE WHEN reported THEN ${reasonOf('reported')} ELSE ${reasonOf('worker_ended')} END,
        owner = NULL, updated_at = $4
    WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'sending'
    RETURNING request, attempts
    `,
    [run, first, last, now],
  );
  if (rows.length === 0) return 0;
  // A separate statement also sees attempts that began while the first one waited.
  await client.query(
    `
    UPDATE attempts a
    SET finished_at = $4, verdict = 'in_doubt', detail = ${reasonOf('worker_ended')}
    FROM unnest($2::integer[], $3::integer[]) AS orphaned (request, attempt)
    WHERE a.run_id = $1 AND a.request = orphaned.request AND a.attempt = orphaned.attempt AND a.finished_at IS NULL
    `,
    [run, rows.map(({ request }) => request), rows.map(({ attempts }) => attempts), now],
  );
  return rows.length;
}

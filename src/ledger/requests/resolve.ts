import type pg from 'pg';
import type { RequestState, Resolution } from '../../domain/runs.ts';
import { recordReopenedRequests } from '../billing/changes.ts';
import { reasonOf } from '../reasons.ts';
import { lockRun, markReopened } from '../run-states/transitions.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { reopenSlices } from '../slice-states/transitions.ts';

/* How requests in doubt are resolved. A delivery report proves one too (`prove.ts`). */

export type ResolvedRequest = { readonly request: number; readonly recipients: number };

const stateAfter = {
  accepted: 'accepted',
  resend: 'planned',
  abandon: 'abandoned',
} as const satisfies Record<Resolution, RequestState>;

/**
 * `in_doubt → accepted | planned | abandoned` by an operator. A resend keeps MessageID and bytes; its slice waits
 * again, and a completed run is paused. A cancelled or purged run resends nothing.
 */
export async function resolveRequests(
  client: Transaction,
  resolve: {
    readonly run: string;
    readonly requests: readonly number[] | 'all';
    readonly resolution: Resolution;
    readonly by: string;
    readonly reason: string;
    readonly now: Date;
  },
): Promise<ResolvedRequest[]> {
  const { run, requests, resolution, by, reason, now } = resolve;
  // Lock the run, so that neither it nor its slices end before the requests change.
  const { rows: runs } = await client.query<{ over: boolean }>(
    `SELECT state = 'cancelled' OR purged_at IS NOT NULL AS over FROM runs WHERE run_id = $1 FOR NO KEY UPDATE`,
    [run],
  );
  if (resolution === 'resend' && runs[0]?.over !== false) return [];
  const { rows } = await client.query<ResolvedRequest>(
    `
    WITH resolved AS (
      UPDATE requests q
      SET state = $3, updated_at = $4, resends = resends + CASE $3 WHEN 'planned' THEN 1 ELSE 0 END,
          reason = jsonb_build_object('kind', 'resolved', 'resolution', $5::text, 'by', $6::text, 'words', $7::text)
      WHERE run_id = $1 AND state = 'in_doubt' AND ($2::integer[] IS NULL OR request = ANY ($2))
      RETURNING run_id, request, recipients - suppressed AS recipients
    ), opened AS (
      ${recordReopenedRequests('resolved')}
    ), kept AS (
      INSERT INTO resolutions (run_id, request, resolved_at, resolution, resolved_by, reason)
      SELECT $1, request, $4, $5, $6, $7
      FROM resolved
    )
    SELECT request, recipients
    FROM resolved
    ORDER BY request
    `,
    [run, requests === 'all' ? null : requests, stateAfter[resolution], now, resolution, by, reason],
  );
  if (resolution === 'resend' && rows.length > 0) {
    await markReopened(client, run, { kind: 'doubts_reopened', run });
    await reopenSlices(
      client,
      run,
      rows.map(({ request }) => request),
    );
  }
  return rows;
}

/** `in_doubt → accepted` by a look-up. @returns false if it was no longer in doubt */
export async function acceptLookedUp(
  pool: pg.Pool,
  found: { readonly run: string; readonly request: number; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `
    WITH accepted AS (
      UPDATE requests
      SET state = 'accepted', reason = ${reasonOf('looked_up')}, updated_at = $3
      WHERE run_id = $1 AND request = $2 AND state = 'in_doubt'
      RETURNING run_id, request
    ), opened AS (
      ${recordReopenedRequests('accepted')}
    )
    SELECT FROM accepted
    `,
    [found.run, found.request, found.now],
  );
  return rowCount === 1;
}

/**
 * `in_doubt → planned` for requests that were resent fewer than `resends` times, with the same MessageID and bytes.
 * Their slices wait for a worker again. Only in a running run: in a cancelled one they would stay planned.
 *
 * @param owner of the slice that settles doubts
 */
export async function resendDoubts(
  pool: pg.Pool,
  { run, owner, resends }: { readonly run: string; readonly owner: string; readonly resends: number },
  now: Date,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    if ((await lockRun(client, run)) !== 'running') return 0;
    const { rows } = await client.query<{ request: number }>(
      `
      WITH resent AS (
        UPDATE requests
        SET state = 'planned', resends = resends + 1, updated_at = $4
        WHERE run_id = $1 AND state = 'in_doubt' AND resends < $3
          AND EXISTS (SELECT FROM slices WHERE run_id = $1 AND phase = 'settling doubts' AND owner = $2)
        RETURNING run_id, request
      ), opened AS (
        ${recordReopenedRequests('resent')}
      )
      SELECT request FROM resent
      `,
      [run, owner, resends, now],
    );
    const requests = rows.map(({ request }) => request);
    await reopenSlices(client, run, requests);
    return requests.length;
  });
}

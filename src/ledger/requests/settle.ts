import type pg from 'pg';

/** How an attempt ended, and what its request becomes. */
export type Settlement = {
  readonly request: number;
  readonly attempt: number;
  readonly finishedAt: Date;
  readonly httpStatus: number | null;
  /** The service's words, or what went wrong; null when there is nothing to say. */
  readonly detail: string | null;
} & (
  | { readonly state: 'accepted' | 'rejected' | 'failed' | 'in_doubt' }
  /** Back to `planned`: only for a request that the service provably did not take. */
  | { readonly state: 'planned'; readonly verdict: 'unauthorized' | 'released' }
);

/**
 * `sending → accepted | rejected | failed | in_doubt | planned`, for a batch. Fenced: a request that this owner no
 * longer holds is left as it is.
 *
 * @returns the requests that were settled
 */
export async function settleRequests(
  pool: pg.Pool,
  run: string,
  owner: string,
  settlements: readonly Settlement[],
): Promise<number[]> {
  const { rows } = await pool.query<{ request: number }>(
    `
    WITH outcome AS (
      SELECT *
      FROM unnest($3::integer[], $4::integer[], $5::timestamptz[], $6::integer[], $7::text[], $8::text[], $9::text[])
        AS outcome (request, attempt, finished_at, http_status, detail, state, verdict)
    ), finished AS (
      UPDATE attempts a
      SET finished_at = o.finished_at, verdict = o.verdict, http_status = o.http_status, detail = o.detail
      FROM outcome o
      WHERE a.run_id = $1 AND a.request = o.request AND a.attempt = o.attempt AND a.finished_at IS NULL
    )
    UPDATE requests q
    SET state = o.state, owner = NULL, reason = o.detail, updated_at = o.finished_at
    FROM outcome o
    WHERE q.run_id = $1 AND q.request = o.request AND q.state = 'sending' AND q.owner = $2
    RETURNING q.request
    `,
    [
      run,
      owner,
      settlements.map(({ request }) => request),
      settlements.map(({ attempt }) => attempt),
      settlements.map(({ finishedAt }) => finishedAt),
      settlements.map(({ httpStatus }) => httpStatus),
      settlements.map(({ detail }) => detail),
      settlements.map(({ state }) => state),
      settlements.map((settlement) =>
        settlement.state === 'planned' ? settlement.verdict : settlement.state,
      ),
    ],
  );
  return rows.map(({ request }) => request);
}

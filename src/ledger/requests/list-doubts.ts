import type pg from 'pg';
import type { RequestReason } from '../../domain/reasons.ts';
import type { RequestState } from '../../domain/runs.ts';
import { requestReason, type Stored } from '../reasons.ts';
import { countSuppressedOf } from '../request-rows.ts';
import type { Connection } from '../session.ts';

export type Doubt = {
  readonly request: number;
  readonly messageId: string;
  /** Without suppressed recipients. */
  readonly recipients: number;
  readonly since: Date | null;
  readonly reason: RequestReason | null;
  readonly attempts: number;
};

const requestsPerPage = 1_000;

/** In pages, each as the ledger is when it is read. */
export async function* listDoubts(
  pool: pg.Pool,
  run: string,
  requests: readonly number[] | 'all',
): AsyncGenerator<readonly Doubt[], void, undefined> {
  let after = 0;
  for (;;) {
    const { rows } = await pool.query<Stored<Doubt>>(
      `
      SELECT request, message_id AS "messageId",
             recipients - ${countSuppressedOf('q')} AS recipients,
             updated_at AS since, reason, attempts
      FROM requests_between($1, $2 + 1, 2147483647) q
      WHERE state = 'in_doubt'
        AND ($3::integer[] IS NULL OR request = ANY ($3))
      ORDER BY request
      LIMIT $4
      `,
      [run, after, requests === 'all' ? null : requests, requestsPerPage],
    );
    if (rows.length > 0) yield rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
    if (rows.length < requestsPerPage) return;
    after = rows.at(-1)?.request ?? 0;
  }
}

export type FoundRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly state: RequestState;
  readonly reason: RequestReason | null;
};

export async function findRequests(
  client: Connection,
  run: string,
  requests: readonly number[],
): Promise<FoundRequest[]> {
  const { rows } = await client.query<Stored<FoundRequest>>(
    `
    SELECT request, message_id AS "messageId", state, reason
    FROM request_states
    WHERE run_id = $1 AND request = ANY ($2::integer[])
    ORDER BY request
    `,
    [run, requests],
  );
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}

import type { RequestReason } from '../../domain/reasons.ts';
import type { RequestState } from '../../domain/runs.ts';
import { requestReason, type Stored } from '../reasons.ts';
import { requestOf } from '../request-rows.ts';
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

/**
 * Lists requests in pages, each as the ledger is when it is read. Every request in doubt has a row.
 *
 * @param options `after`: the request before the first one
 */
export async function* listDoubts(
  client: Connection,
  run: string,
  requests: readonly number[] | 'all',
  { after: start = 0, pageSize = requestsPerPage } = {},
): AsyncGenerator<readonly Doubt[], void, undefined> {
  let after = start;
  for (;;) {
    const { rows } = await client.query<Stored<Doubt>>(
      `
      SELECT q.request, message_id(r.run_number, r.message_key, q.request) AS "messageId",
             q.recipients - q.suppressed AS recipients,
             q.updated_at AS since, q.reason, q.attempts
      FROM runs r
      JOIN requests q USING (run_id)
      WHERE r.run_id = $1 AND q.request > $2 AND q.state = 'in_doubt'
        AND ($3::integer[] IS NULL OR q.request = ANY ($3))
      ORDER BY q.request
      LIMIT $4
      `,
      [run, after, requests === 'all' ? null : requests, pageSize],
    );
    if (rows.length > 0) yield rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
    if (rows.length < pageSize) return;
    after = rows.at(-1)?.request ?? 0;
  }
}

type FoundRequest = {
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
    SELECT q.request, q.message_id AS "messageId", q.state, q.reason
    FROM (SELECT DISTINCT unnest($2::integer[]) AS request) named
    CROSS JOIN ${requestOf('$1', 'named.request')} q
    ORDER BY q.request
    `,
    [run, requests],
  );
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}

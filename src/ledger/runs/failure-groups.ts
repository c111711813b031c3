import type { RequestReason } from '../../domain/reasons.ts';
import { requestReason, type Stored } from '../reasons.ts';
import { contactFileOf, recipientsOf } from '../request-rows.ts';
import { type FailedRequest, failedStates } from '../requests/stream-failed.ts';
import type { Connection } from '../session.ts';

/** Requests that were not accepted, with the same state and reason. All of them have rows. */
export type FailureGroup = {
  /** Names the group in a link. */
  readonly group: string;
  readonly state: FailedRequest['state'];
  /** The service's own words, or what happened instead of an answer. */
  readonly reason: RequestReason | null;
  readonly requests: number;
  /** Without suppressed recipients. */
  readonly recipients: number;
};

/**
 * SQL: the reason without what differs between requests. Of an answer that is not the interface's, only status and
 * media type remain (`gateway/verdict.ts`).
 */
const groupedReason = `
  CASE WHEN q.state = 'in_doubt' AND jsonb_typeof(q.reason) = 'string'
       THEN to_jsonb(regexp_replace(q.reason #>> '{}', '^(HTTP [0-9]{3}, ([^ :]+/[^ :]+|no media type)): .*$', '\\1'))
       ELSE q.reason END`;

const group = `md5(concat_ws(' ', q.state, ${groupedReason}))`;

/**
 * Lists the largest group first. Reads the rows of requests: of a million that were rejected, in half a second.
 *
 * @param limit null for all
 */
export async function listFailureGroups(
  client: Connection,
  run: string,
  limit: number | null,
  states: readonly FailureGroup['state'][] = failedStates,
): Promise<FailureGroup[]> {
  const { rows } = await client.query<Stored<FailureGroup>>({
    name: 'list-failure-groups',
    text: `
      SELECT md5(concat_ws(' ', state, reason)) AS "group", state, reason, count(*)::integer AS requests,
             sum(recipients)::integer AS recipients
      FROM (
        SELECT state, ${groupedReason} AS reason, recipients - suppressed AS recipients
        FROM requests q
        WHERE run_id = $1 AND state = ANY ($2::text[])
      ) failed
      GROUP BY state, reason
      ORDER BY requests DESC, state, reason
      LIMIT $3
    `,
    values: [run, states, limit],
  });
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}

/** @param groups as `FailureGroup.group` */
export async function listDoubtsOfGroups(
  client: Connection,
  run: string,
  groups: readonly string[],
): Promise<number[]> {
  const { rows } = await client.query<{ request: number }>(
    `
    SELECT request
    FROM requests q
    WHERE run_id = $1 AND state = 'in_doubt' AND ${group} = ANY ($2)
    ORDER BY request
    `,
    [run, groups],
  );
  return rows.map(({ request }) => request);
}

/** A recipient of a failed request, with its row in the contact file. */
export type FailedRecipient = {
  readonly request: number;
  readonly messageId: string;
  readonly state: FailedRequest['state'];
  readonly reason: RequestReason | null;
  readonly attempts: number;
  readonly at: Date | null;
  readonly position: number;
  /** Null in a purged run. */
  readonly address: string | null;
  /** Empty in a purged run. */
  readonly file: string;
  readonly line: number;
};

export type FailureQuery = {
  readonly group?: string | undefined;
  /** The last row of the page before. */
  readonly after?: Pick<FailedRecipient, 'request' | 'position'> | undefined;
};

export async function listFailedRecipients(
  client: Connection,
  run: string,
  { group: wanted, after }: FailureQuery,
  limit: number,
): Promise<FailedRecipient[]> {
  const { rows } = await client.query<Stored<FailedRecipient>>(
    `
    SELECT p.*, m.message_id AS "messageId", coalesce(f.name, '') AS file, p.row - coalesce(f.lines_before, 0) AS line
    FROM (
      SELECT q.request, q.state, q.reason, q.attempts, q.updated_at AS at, r.position, r.address, r.line AS row
      FROM requests q
      CROSS JOIN ${recipientsOf('$1', 'q.request')} r
      WHERE q.run_id = $1 AND q.state = ANY ($2::text[]) AND ($3::text IS NULL OR ${group} = $3) AND q.request >= $4
        AND (q.request > $4 OR r.position > $5)
      ORDER BY q.request, r.position
      LIMIT $6
    ) p
    CROSS JOIN LATERAL requests_between($1, p.request, p.request) m
    LEFT JOIN ${contactFileOf('$1', 'p.row')} f ON true
    ORDER BY p.request, p.position
    `,
    [run, failedStates, wanted ?? null, after?.request ?? 0, after?.position ?? 0, limit],
  );
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}

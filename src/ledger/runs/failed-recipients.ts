import type { RequestReason } from '../../domain/reasons.ts';
import { type FailedState, failedStates } from '../../domain/runs.ts';
import { requestReason, type Stored } from '../reasons.ts';
import { contactFileOf, recipientsOf } from '../request-rows.ts';
import type { Connection } from '../session.ts';

/** SQL: as `FailureGroup.group`. */
const group = 'failure_group(q.state, failure_words(q.state, q.reason))';

/** @param wanted as `FailureGroup.group` */
export async function listDoubtsOfGroup(client: Connection, run: string, wanted: string): Promise<number[]> {
  const { rows } = await client.query<{ request: number }>(
    `
    SELECT request
    FROM requests q
    WHERE run_id = $1 AND state = 'in_doubt' AND ${group} = $2
    ORDER BY request
    `,
    [run, wanted],
  );
  return rows.map(({ request }) => request);
}

/** A recipient of a failed request, with its row in the contact file. */
export type FailedRecipient = {
  readonly request: number;
  readonly messageId: string;
  readonly state: FailedState;
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
  /** As `FailureGroup.group`; all if undefined. */
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

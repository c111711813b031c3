import type pg from 'pg';
import type { ReportMethod } from '../../domain.ts';
import type { InboxReport } from './reading.ts';

export type QueuedReport = InboxReport & {
  /** How often it was read before and matched nothing. */
  readonly tries: number;
};

type DbQueuedReport = {
  readonly report_id: string;
  readonly account: string;
  readonly received_at: Date;
  readonly method: ReportMethod;
  readonly content_type: string;
  readonly body: Buffer;
  readonly tries: number;
};

/** Bodies that are in memory at once (bytes), unless one alone is larger. */
const mostBytes = 16 * 1024 * 1024;

/** Takes the reports out of the queue that have been due for longest; what another one is taking is passed by. */
export async function takeReports(client: pg.ClientBase, limit: number, now: Date): Promise<QueuedReport[]> {
  const { rows } = await client.query<DbQueuedReport>({
    name: 'take-reports',
    text: `
    WITH taken AS (
      DELETE FROM inbox_queue
      WHERE report_id = ANY (ARRAY(
        SELECT report_id
        FROM (
          SELECT report_id, sum(bytes) OVER (ORDER BY due_at, report_id) - bytes AS bytes_before
          FROM (
            SELECT report_id, due_at, bytes
            FROM inbox_queue
            WHERE due_at <= $2
            ORDER BY due_at, report_id
            LIMIT $1
            FOR UPDATE SKIP LOCKED
          ) due
        ) counted
        WHERE bytes_before < $3
      ))
      RETURNING report_id, tries
    )
    SELECT report_id, account, received_at, method, content_type, body, tries
    FROM taken
    JOIN inbox USING (report_id)
    ORDER BY report_id
    `,
    values: [limit, now, mostBytes],
  });
  return rows.map(({ report_id, received_at, content_type, account, method, body, tries }) => ({
    ...{ report: report_id, receivedAt: received_at, contentType: content_type },
    ...{ account, method, body, tries },
  }));
}

/**
 * For a MessageID that nobody knows yet: looked for again after a minute, then at twice the distance each time, for about
 * three days. After that only a replay looks again.
 */
export async function lookAgain(
  client: pg.ClientBase,
  unmatched: readonly Pick<QueuedReport, 'report' | 'body' | 'tries'>[],
  now: Date,
): Promise<void> {
  const again = unmatched.filter(({ tries }) => tries < mostTries);
  if (again.length === 0) return;
  await client.query(
    `
    INSERT INTO inbox_queue (report_id, due_at, bytes, tries)
    SELECT report_id, $4::timestamptz + interval '1 minute' * power(2, tries), bytes, tries + 1
    FROM unnest($1::bigint[], $2::integer[], $3::integer[]) AS unmatched (report_id, bytes, tries)
    `,
    [
      again.map(({ report }) => report),
      again.map(({ body }) => body.byteLength),
      again.map(({ tries }) => tries),
      now,
    ],
  );
}

const mostTries = 12;

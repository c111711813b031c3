import type pg from 'pg';

export type Replay = {
  /** Only of this account. */
  readonly account?: string | undefined;
  /** Only what came at that time or later. */
  readonly since?: Date | undefined;
  /** All of them, not only those that could not be read or matched. */
  readonly all: boolean;
};

/**
 * Puts calls of the inbox into the queue again. What they say is read anew; nothing counts twice.
 *
 * @returns how many
 */
export async function replayReports(
  pool: pg.Pool,
  { account, since, all }: Replay,
  now: Date,
): Promise<number> {
  const { rowCount } = await pool.query(
    `
    INSERT INTO inbox_queue (report_id, due_at, bytes)
    SELECT report_id, $3, octet_length(body)
    FROM inbox i
    WHERE ($1::text IS NULL OR i.account = $1)
      AND ($2::timestamptz IS NULL OR i.received_at >= $2)
      AND ($4 OR EXISTS (
        SELECT FROM reports k WHERE k.report_id = i.report_id AND k.state IN ('unreadable', 'unmatched')
      ))
    ON CONFLICT (report_id) DO UPDATE SET due_at = excluded.due_at, tries = 0
    `,
    [account ?? null, since ?? null, now, all],
  );
  return rowCount ?? 0;
}

import type pg from 'pg';

export type MissingReports = {
  readonly account: string;
  /** Accepted recipients without a final delivery report. */
  readonly missing: number;
  /** Start of the quarter of an hour in which the first of them was sent. */
  readonly oldest: Date;
  /** When the last delivery report of any account arrived. */
  readonly lastReport: Date | null;
};

/**
 * Adds up billing entries, as billing does: `listMissing` reads every recipient. Omits purged runs and tests.
 *
 * @param from recipients sent at this time or later, and before `until`
 */
export async function countMissingReports(pool: pg.Pool, from: Date, until: Date): Promise<MissingReports[]> {
  const { rows } = await pool.query<MissingReports>(
    `
    WITH unreported AS (
      SELECT r.account, e.sent, sum(e.accepted - e.delivered - e.undelivered) AS missing
      FROM all_entries e
      JOIN runs r USING (run_id)
      WHERE r.purged_at IS NULL AND r.kind = 'ordinary' AND e.sent >= $1 AND e.sent < $2
      GROUP BY r.account, e.run_id, e.sent
    )
    SELECT account, sum(missing)::integer AS missing, min(sent) AS oldest,
           (SELECT received_at FROM inbox ORDER BY report_id DESC LIMIT 1) AS "lastReport"
    FROM unreported
    WHERE missing > 0
    GROUP BY account
    ORDER BY account
    `,
    [from, until],
  );
  return rows;
}

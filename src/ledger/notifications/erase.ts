import type pg from 'pg';

/** Forgets what a purged run told, and to whom; what is still to be told never will be. */
export async function eraseNotifications(pool: pg.Pool, run: string): Promise<void> {
  await pool.query(
    `
    UPDATE notifications
    SET reason = NULL, body = NULL, target = jsonb_build_object('on', target -> 'on', 'kind', target -> 'kind'),
        state = CASE state WHEN 'due' THEN 'given up' ELSE state END,
        problem = CASE state WHEN 'due' THEN NULL ELSE problem END,
        ended_at = coalesce(ended_at, now())
    WHERE run_id = $1
    `,
    [run],
  );
  await pool.query('DELETE FROM notify_lists WHERE run_id = $1', [run]);
}

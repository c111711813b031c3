import type pg from 'pg';

/** Erases reasons of ticks before that time: they may quote a row of a contact file. */
export async function eraseOldTicks(pool: pg.Pool, before: Date): Promise<void> {
  await pool.query(
    `UPDATE ticks SET reason = NULL WHERE due_at < $1 AND state <> 'due' AND reason IS NOT NULL`,
    [before],
  );
}

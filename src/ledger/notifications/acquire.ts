import type pg from 'pg';
import type { MissedTicks, NotifiedEvent } from '../../domain/notify.ts';
import type { RefusedRun } from '../../domain/problems.ts';
import type { RunReason, TickReason } from '../../domain/reasons.ts';
import { notifiedReason, type Stored } from '../reasons.ts';

/** A notification that this process has acquired, so that no other process sends it now. */
export type AcquiredNotification = {
  readonly notification: string;
  /** Number of the acquisition, a fence against earlier ones. */
  readonly acquisition: number;
  readonly event: NotifiedEvent;
  /** Unparsed. */
  readonly target: unknown;
  /** Null: it is about ticks without a run, or a refused run. */
  readonly run: string | null;
  readonly schedule: string | null;
  /** Of a run that is refused now, or that a tick could not make. */
  readonly refused: RefusedRun | null;
  readonly missed: Omit<MissedTicks, 'schedule'> | null;
  readonly campaignFile: string | null;
  readonly reason: RunReason | TickReason | null;
  readonly createdAt: Date;
  readonly attempts: number;
  /** The body of the first attempt; null before it. */
  readonly body: string | null;
};

/**
 * Acquires the notification that has been due longest.
 *
 * @param ignored notifications that this process cannot send
 * @param until when it is due again unless it is settled
 */
export async function acquireNotification(
  pool: pg.Pool,
  ignored: readonly string[],
  now: Date,
  until: Date,
): Promise<AcquiredNotification | undefined> {
  const { rows } = await pool.query<Stored<AcquiredNotification>>(
    `
    UPDATE notifications n
    SET acquisitions = acquisitions + 1, due_at = $3
    FROM (
      SELECT notification
      FROM notifications
      WHERE state = 'due' AND due_at <= $2 AND notification <> ALL ($1::uuid[])
      ORDER BY due_at, created_at
      LIMIT 1
      FOR UPDATE SKIP LOCKED
    ) due
    WHERE n.notification = due.notification
    RETURNING n.notification, acquisitions AS acquisition, event, target, run_id AS run, campaign_file AS "campaignFile",
              schedule, missed, refused, reason, created_at AS "createdAt", attempts, body
    `,
    [ignored, now, until],
  );
  return rows.map((row) => ({ ...row, reason: notifiedReason(row.reason) }))[0];
}

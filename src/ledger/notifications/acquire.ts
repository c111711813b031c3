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
  readonly about:
    | { readonly kind: 'run'; readonly run: string; readonly campaignFile: string | null }
    | { readonly kind: 'schedule'; readonly missed: MissedTicks }
    | {
        readonly kind: 'refusal';
        readonly refused: RefusedRun;
        readonly schedule: string | null;
        readonly campaignFile: string | null;
      };
  readonly reason: RunReason | TickReason | null;
  readonly createdAt: Date;
  readonly attempts: number;
  /** The body of the first attempt; null before it. */
  readonly body: string | null;
};

type DbRow = Stored<Omit<AcquiredNotification, 'about'>> & {
  readonly run: string | null;
  readonly campaignFile: string | null;
  readonly schedule: string | null;
  readonly missed: Omit<MissedTicks, 'schedule'> | null;
  readonly refused: RefusedRun | null;
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
  const { rows } = await pool.query<DbRow>(
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
  const [row] = rows;
  if (!row) return undefined;
  const { run, campaignFile, schedule, missed, refused, reason, ...acquired } = row;
  return { ...acquired, reason: notifiedReason(reason), about: subjectOf(row) };
}

function subjectOf(row: DbRow): AcquiredNotification['about'] {
  const { run, campaignFile, schedule, missed, refused } = row;
  if (run !== null) return { kind: 'run', run, campaignFile };
  if (row.event === 'refused' && refused !== null)
    return { kind: 'refusal', refused, schedule, campaignFile };
  if (missed !== null && schedule !== null) return { kind: 'schedule', missed: { ...missed, schedule } };
  throw new Error(`notification ${row.notification} has no run, tick or refused run`);
}

import type pg from 'pg';
import type { NotifiedEvent } from '../../domain/notify.ts';
import type { RunState } from '../../domain/runs.ts';
import type { Connection } from '../session.ts';

export type ListedNotification = {
  readonly notification: string;
  readonly event: NotifiedEvent;
  readonly way: 'command' | 'webhook' | 'email';
  readonly state: 'due' | 'acknowledged' | 'given up';
  readonly createdAt: Date;
  readonly attempts: number;
  /** Why it is not delivered; null: it was given up because its run was purged. */
  readonly problem: string | null;
  readonly endedAt: Date | null;
  /** The run that sends the e-mail. */
  readonly mailRun: string | null;
  readonly mailState: RunState | null;
};

const columns = `
  notification, event, target ->> 'kind' AS way, state, created_at AS "createdAt", attempts, problem,
  ended_at AS "endedAt", mail_run AS "mailRun",
  (SELECT r.state FROM runs r WHERE r.run_id = mail_run) AS "mailState"
`;

export async function listRunNotifications(client: Connection, run: string): Promise<ListedNotification[]> {
  const { rows } = await client.query<ListedNotification>(
    `SELECT ${columns} FROM notifications WHERE run_id = $1 ORDER BY change, target_index`,
    [run],
  );
  return rows;
}

export async function listNotifications(
  pool: pg.Pool,
  ids: readonly string[],
): Promise<ListedNotification[]> {
  const { rows } = await pool.query<ListedNotification>(
    `SELECT ${columns} FROM notifications WHERE notification = ANY ($1::uuid[]) ORDER BY target_index`,
    [ids],
  );
  return rows;
}

export type ScheduleNotification = ListedNotification & { readonly schedule: string };

/** Lists notifications of ticks without a run that are due or given up, newest first. */
export async function listUnacknowledgedTicks(pool: pg.Pool, limit: number): Promise<ScheduleNotification[]> {
  const { rows } = await pool.query<ScheduleNotification>(
    `
    SELECT schedule, ${columns}
    FROM notifications
    WHERE schedule IS NOT NULL AND state IN ('due', 'given up')
    ORDER BY created_at DESC, schedule, target_index
    LIMIT $1
    `,
    [limit],
  );
  return rows;
}

/** Lists planned e-mail runs. The process that made them may have ended before it started them. */
export async function listUnstartedMailRuns(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ run: string }>(
    `
    SELECT r.run_id AS run
    FROM runs r
    JOIN notifications n ON n.mail_run = r.run_id
    WHERE r.state = 'planned'
    ORDER BY r.run_id
    `,
  );
  return rows.map(({ run }) => run);
}

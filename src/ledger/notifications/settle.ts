import type { Connection } from '../session.ts';
import type { AcquiredNotification } from './acquire.ts';

/** The key of an acquisition. Its holder changes no later one. */
type Acquisition = Pick<AcquiredNotification, 'notification' | 'acquisition'>;

/** What an attempt comes to. */
export type NotificationChange =
  /** It is about to be made, with this body. */
  | { readonly to: 'attempted'; readonly body: string }
  /**
   * It failed, or was not made. `problem`: without secrets and addresses. `attempts`: one that failed before it was recorded
   * counts too.
   */
  | { readonly to: 'due'; readonly problem: string; readonly dueAt: Date; readonly attempts: number }
  /** `mailRun`: the run that sends the e-mail, committed with it, so that there is only one. */
  | { readonly to: 'acknowledged'; readonly endedAt: Date; readonly mailRun?: string }
  /** A dead letter. */
  | { readonly to: 'given up'; readonly problem: string; readonly endedAt: Date };

/** Changes a notification that is due and was not acquired again. @returns whether it was so */
export async function changeNotification(
  client: Connection,
  { notification, acquisition }: Acquisition,
  change: NotificationChange,
): Promise<boolean> {
  const { to, body, problem, dueAt, attempts, endedAt, mailRun } = { ...none, ...change };
  const { rowCount } = await client.query(
    `
    UPDATE notifications
    SET state = CASE WHEN $3 = 'attempted' THEN state ELSE $3 END,
        body = coalesce($4, body),
        problem = CASE WHEN $3 = 'attempted' THEN problem ELSE $5 END,
        due_at = coalesce($6, due_at),
        attempts = greatest(attempts + CASE WHEN $3 = 'attempted' OR $9::text IS NOT NULL THEN 1 ELSE 0 END, $7),
        ended_at = $8,
        mail_run = $9
    WHERE notification = $1 AND acquisitions = $2 AND state = 'due'
    `,
    [notification, acquisition, to, body, problem, dueAt, attempts, endedAt, mailRun],
  );
  return rowCount === 1;
}

const none = { body: null, problem: null, dueAt: null, attempts: null, endedAt: null, mailRun: null };

import type pg from 'pg';
import type { Transaction } from '../session.ts';
import type { AcquiredNotification } from './acquire.ts';

/** The key of an acquisition. Its holder changes no later one. */
type Acquisition = Pick<AcquiredNotification, 'notification' | 'acquisition'>;

/** SQL: this acquisition is the last one. */
const stillAcquired = `notification = $1 AND acquisitions = $2 AND state = 'due'`;

/** Records an attempt and its body before it is made. @returns whether it may be made */
export async function beginAttempt(
  pool: pg.Pool,
  { notification, acquisition }: Acquisition,
  body: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE notifications SET attempts = attempts + 1, body = $3 WHERE ${stillAcquired}`,
    [notification, acquisition, body],
  );
  return rowCount === 1;
}

/** `due → acknowledged` */
export async function markAcknowledged(
  pool: pg.Pool,
  { notification, acquisition }: Acquisition,
  now: Date,
): Promise<void> {
  await pool.query(
    `UPDATE notifications SET state = 'acknowledged', problem = NULL, ended_at = $3 WHERE ${stillAcquired}`,
    [notification, acquisition, now],
  );
}

/**
 * `due → acknowledged`, in the transaction that makes the e-mail's run, so that there is only one.
 *
 * @returns whether it was still due
 */
export async function markMailed(
  client: Transaction,
  { notification, acquisition }: Acquisition,
  mailRun: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `
    UPDATE notifications
    SET state = 'acknowledged', problem = NULL, ended_at = $3, mail_run = $4, attempts = attempts + 1
    WHERE ${stillAcquired}
    `,
    [notification, acquisition, now, mailRun],
  );
  return rowCount === 1;
}

type Postponement = {
  /** Without secrets and addresses. */
  readonly problem: string;
  readonly dueAt: Date;
  /** Attempts made; one that failed before it was recorded counts too. */
  readonly attempts: number;
};

export async function postpone(
  pool: pg.Pool,
  { notification, acquisition }: Acquisition,
  { problem, dueAt, attempts }: Postponement,
): Promise<void> {
  await pool.query(
    `UPDATE notifications SET problem = $3, due_at = $4, attempts = greatest(attempts, $5) WHERE ${stillAcquired}`,
    [notification, acquisition, problem, dueAt, attempts],
  );
}

/** `due → given up`: the notification is a dead letter. */
export async function markGivenUp(
  pool: pg.Pool,
  { notification, acquisition }: Acquisition,
  problem: string,
  now: Date,
): Promise<void> {
  await pool.query(
    `UPDATE notifications SET state = 'given up', problem = $3, ended_at = $4 WHERE ${stillAcquired}`,
    [notification, acquisition, problem, now],
  );
}

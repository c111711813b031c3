import type pg from 'pg';
import type { Transaction } from '../session.ts';
import type { AcquiredNotification } from './acquire.ts';

/** The key of a taking: what another one has meanwhile is not touched. */
type Acquisition = Pick<AcquiredNotification, 'notification' | 'acquisition'>;

/** SQL: of a taking that is still the last one. */
const stillAcquired = `notification = $1 AND acquisitions = $2 AND state = 'due'`;

/** Notes an attempt before it is made, with what is told by it. @returns whether it may be made */
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
 * `due → acknowledged`, in the transaction that makes the run which is its e-mail: so there is one, however often it is tried.
 *
 * @returns whether it was still to be told
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

export type Postponement = {
  /** In words without a secret and without an address. */
  readonly problem: string;
  readonly dueAt: Date;
  /** Those that were made; one that failed before it was noted counts too. */
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

/** `due → given up` */
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

import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import type { Connection, Transaction } from '../session.ts';

/**
 * Records that a run was made from a plan file, once per plan. A second run of the plan waits here until the first one
 * commits.
 *
 * @param plan the id in the plan file
 * @returns whether the plan had no run
 */
export async function recordPlanOfRun(client: Transaction, plan: string, run: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO run_plans (plan, run_id) VALUES ($1, $2) ON CONFLICT (plan) DO NOTHING',
    [plan, run],
  );
  return rowCount === 1;
}

export async function findRunOfPlan(
  client: Connection,
  plan: string,
): Promise<{ readonly run: string; readonly state: RunState } | undefined> {
  const { rows } = await client.query<{ run: string; state: RunState }>(
    'SELECT run_id AS run, state FROM run_plans JOIN runs USING (run_id) WHERE plan = $1',
    [plan],
  );
  return rows[0];
}

/** An idempotency key of the caller. */
export type StartKey = { readonly token: string; readonly key: string };

/** The run that was started with a key, and the digest of the request that did it. */
export type StartedByKey = { readonly run: string; readonly request: Buffer };

export async function findStartedByKey(
  client: Connection,
  { token, key }: StartKey,
): Promise<StartedByKey | undefined> {
  const { rows } = await client.query<StartedByKey>(
    'SELECT run_id AS run, request FROM started_by_key WHERE token = $1 AND key = $2',
    [token, key],
  );
  return rows[0];
}

/**
 * Fails if the key belongs to another run.
 *
 * @returns false if the token is not valid for the account: roll back
 */
export async function recordStartKey(
  client: Transaction,
  { token, key }: StartKey,
  { run, request }: StartedByKey,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `
    INSERT INTO started_by_key (token, key, request, run_id)
    SELECT name, $2, $3, run_id
    FROM tokens CROSS JOIN runs
    WHERE name = $1 AND run_id = $4 AND (accounts IS NULL OR account = ANY (accounts))
    `,
    [token, key, request, run],
  );
  return rowCount === 1;
}

export type SessionLock = {
  /** Never rejects. */
  release(): Promise<void>;
};

/** Only the holder of the lock can start the run of the key. @returns undefined if another session holds it */
export function lockStartKey(pool: pg.Pool, { token, key }: StartKey): Promise<SessionLock | undefined> {
  return lockInSession(pool, `volley start ${token} ${key}`, 'SELECT');
}

/**
 * Locks the run, so that only one process can plan a rerun of it.
 *
 * @returns undefined if another process does, or the run is being sent
 */
export function lockRunForRerun(pool: pg.Pool, run: string): Promise<SessionLock | undefined> {
  const isIdle = `SELECT WHERE NOT EXISTS (SELECT FROM slices WHERE run_id = $2 AND state IN ('queued', 'held'))`;
  return lockInSession(pool, `volley rerun ${run}`, isIdle, run);
}

/** @param condition SQL: a row, if the lock may be taken */
async function lockInSession(
  pool: pg.Pool,
  name: string,
  condition: string,
  ...values: readonly string[]
): Promise<SessionLock | undefined> {
  const client = await pool.connect();
  // An error event without a listener would end the process; the query fails anyway.
  client.on('error', () => undefined);
  const key = 'hashtextextended($1, 0)';
  const take = `SELECT pg_try_advisory_lock(${key}) AS locked FROM (${condition}) AS may`;
  const { rows } = await client
    .query<{ locked: boolean }>(take, [name, ...values])
    .catch((error: unknown) => {
      client.release(true);
      throw error;
    });
  if (!rows[0]?.locked) {
    client.release(true);
    return undefined;
  }
  return {
    async release() {
      // Ending the session frees its locks too, but a moment later.
      await client.query(`SELECT pg_advisory_unlock(${key})`, [name]).catch(() => undefined);
      client.release(true);
    },
  };
}

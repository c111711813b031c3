import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { type Connection, inLock, type Transaction } from '../session.ts';

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

/** Works while no other session can start the run of the key. @returns undefined if another session does */
export function inStartKey<Result>(
  pool: pg.Pool,
  { token, key }: StartKey,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  return inLock(pool, { sql: 'SELECT', values: [`volley start ${token} ${key}`] }, work);
}

/**
 * Works while only this process can plan a rerun of the run.
 *
 * @returns undefined if another process does, or the run is being sent
 */
export function inRerunLock<Result>(
  pool: pg.Pool,
  run: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const sql = `SELECT WHERE NOT EXISTS (SELECT FROM slices WHERE run_id = $2 AND state IN ('queued', 'held'))`;
  return inLock(pool, { sql, values: [`volley rerun ${run}`, run] }, work);
}

import type pg from 'pg';
import type { Connection, Transaction } from '../session.ts';

/** An idempotency key of the caller. */
export type StartKey = { readonly token: string; readonly key: string };

/** `request` is a digest. */
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

/** Takes a session lock: only its holder can start the run of the key. */
export async function tryStartKeyLock(client: pg.ClientBase, { token, key }: StartKey): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_lock(hashtextextended(concat_ws(' ', 'volley start', $1::text, $2::text), 0)) AS locked`,
    [token, key],
  );
  return rows[0]?.locked === true;
}

export async function releaseStartKeyLock(client: pg.ClientBase, { token, key }: StartKey): Promise<void> {
  await client.query(
    `SELECT pg_advisory_unlock(hashtextextended(concat_ws(' ', 'volley start', $1::text, $2::text), 0))`,
    [token, key],
  );
}

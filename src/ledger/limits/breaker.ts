import type pg from 'pg';
import type { Breaker } from '../../domain/breaker.ts';
import { type Connection, inTransaction, type Transaction } from '../session.ts';

/** An account's breaker, undefined if closed, and the clock of Postgres (milliseconds since 1970). */
export type BreakerSnapshot = { readonly breaker: Breaker | undefined; readonly now: number };

type DbBreaker = { readonly [Key in keyof Omit<Breaker, 'probe'>]: Breaker[Key] | null } & {
  readonly now: number;
  readonly probe: string | null;
  readonly probeUntil: number | null;
};

const columns = `
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
  (extract(epoch FROM opened_at) * 1000)::float8 AS "openedAt", (extract(epoch FROM retry_at) * 1000)::float8 AS "retryAt",
  refusals, reason, probe, (extract(epoch FROM probe_until) * 1000)::float8 AS "probeUntil"`;

export async function readBreaker(client: Connection, account: string): Promise<BreakerSnapshot> {
  const { rows } = await client.query<DbBreaker>({
    name: 'read-breaker',
    text: `SELECT ${columns} FROM (SELECT $1::text AS account) asked LEFT JOIN account_breakers USING (account)`,
    values: [account],
  });
  return toSnapshot(rows[0]);
}

/** Changes a breaker under a lock of the fleet. @returns the new one */
export async function changeBreaker(
  pool: pg.Pool,
  account: string,
  decide: (breaker: Breaker | undefined, now: number) => Breaker | undefined,
): Promise<BreakerSnapshot> {
  return inTransaction(pool, async (client) => {
    // A closed breaker has no row to lock.
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('volley breaker ' || $1, 0))`, [
      account,
    ]);
    const { breaker, now } = await readBreaker(client, account);
    const next = decide(breaker, now);
    if (next === undefined) {
      await client.query('DELETE FROM account_breakers WHERE account = $1', [account]);
    } else if (next !== breaker) {
      await writeBreaker(client, account, next);
    }
    return { breaker: next, now };
  });
}

async function writeBreaker(client: Transaction, account: string, breaker: Breaker): Promise<void> {
  const { openedAt, retryAt, refusals, reason, probe } = breaker;
  await client.query(
    `
    INSERT INTO account_breakers (account, opened_at, retry_at, refusals, reason, probe, probe_until)
    VALUES ($1, to_timestamp($2::float8 / 1000), to_timestamp($3::float8 / 1000), $4, $5, $6, to_timestamp($7::float8 / 1000))
    ON CONFLICT (account) DO UPDATE
    SET opened_at = excluded.opened_at, retry_at = excluded.retry_at, refusals = excluded.refusals,
        reason = excluded.reason, probe = excluded.probe, probe_until = excluded.probe_until
    `,
    [account, openedAt, retryAt, refusals, reason, probe?.id ?? null, probe?.expiresAt ?? null],
  );
}

function toSnapshot(row: DbBreaker | undefined): BreakerSnapshot {
  if (!row) return { breaker: undefined, now: 0 };
  const { now, openedAt, retryAt, refusals, reason, probe: id, probeUntil } = row;
  if (openedAt === null || retryAt === null || refusals === null || reason === null) {
    return { breaker: undefined, now };
  }
  const probe = id === null || probeUntil === null ? null : { id, expiresAt: probeUntil };
  return { breaker: { openedAt, retryAt, refusals, reason, probe }, now };
}

/**
 * Finds how long a run has been refused since its last resume, and the last refusal.
 *
 * @returns undefined if it is not running or not refused
 */
export async function findRefusalTime(
  pool: pg.Pool,
  run: string,
): Promise<{ readonly milliseconds: number; readonly reason: string } | undefined> {
  const { rows } = await pool.query<{ milliseconds: number; reason: string }>(
    `
    SELECT (extract(epoch FROM clock_timestamp() - greatest(b.opened_at, s.resumed_at)) * 1000)::float8 AS milliseconds,
           b.reason
    FROM runs r
    JOIN account_breakers b USING (account)
    CROSS JOIN LATERAL (SELECT max(changed_at) AS resumed_at FROM run_states
                        WHERE run_id = r.run_id AND state = 'running') s
    WHERE r.run_id = $1 AND r.state = 'running'
    `,
    [run],
  );
  return rows[0];
}

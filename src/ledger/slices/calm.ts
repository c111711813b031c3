import type pg from 'pg';

type DbSeen = { readonly calm: boolean };

/**
 * Whether the silence of a worker says that it is dead. Right after Postgres was started, or came back from a crash of
 * its own, it does not: every session ended with that, and workers come back one after the other. They have five seconds
 * from when the first of them sees the server; a worker tries every two.
 */
export async function isCalm(client: pg.Pool | pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<DbSeen>(`
    SELECT seen_at < clock_timestamp() - interval '5 seconds' AS calm
    FROM server_seen
    -- Where the clock was set back since, the server is seen anew: else nobody would be taken for dead until then.
    WHERE started_at = pg_postmaster_start_time() AND (seen_at = '-infinity' OR seen_at <= clock_timestamp())
  `);
  const [seen] = rows;
  return seen?.calm ?? (await seeServer(client));
}

/** With no slice in anybody's hands, there is nobody to wait for. */
async function seeServer(client: pg.Pool | pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<DbSeen>(`
    INSERT INTO server_seen (started_at, seen_at)
    SELECT pg_postmaster_start_time(),
           CASE WHEN EXISTS (SELECT FROM slices WHERE state = 'held') THEN clock_timestamp() ELSE '-infinity' END
    ON CONFLICT (one) DO UPDATE SET started_at = excluded.started_at, seen_at = excluded.seen_at
    RETURNING seen_at < clock_timestamp() - interval '5 seconds' AS calm
  `);
  return rows[0]?.calm ?? false;
}

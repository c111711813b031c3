import type pg from 'pg';

export type ServerFacts = {
  readonly version: string;
  /** As 180001 for 18.1. */
  readonly versionNumber: number;
  readonly bytes: number;
  readonly connections: number;
  readonly maxConnections: number;
};

export async function readServer(pool: pg.Pool): Promise<ServerFacts> {
  const { rows } = await pool.query<ServerFacts>(`
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num')::integer AS "versionNumber",
           pg_database_size(current_database())::float8 AS bytes,
           (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
           current_setting('max_connections')::integer AS "maxConnections"
  `);
  const [server] = rows;
  if (!server) throw new Error('a query without a table returned no row');
  return server;
}

export async function readServerTime(pool: pg.Pool): Promise<Date> {
  const { rows } = await pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const [row] = rows;
  if (!row) throw new Error('a query without a table returned no row');
  return row.now;
}

export type Archiving = {
  readonly isOn: boolean;
  readonly lastArchivedAt: Date | null;
  readonly lastFailedAt: Date | null;
};

export async function readArchiving(pool: pg.Pool): Promise<Archiving> {
  const { rows } = await pool.query<Archiving>(`
    SELECT current_setting('archive_mode') <> 'off' AS "isOn", last_archived_time AS "lastArchivedAt",
           last_failed_time AS "lastFailedAt"
    FROM pg_stat_archiver
  `);
  return rows[0] ?? { isOn: false, lastArchivedAt: null, lastFailedAt: null };
}

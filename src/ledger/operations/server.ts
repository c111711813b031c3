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

/** A session whose transaction keeps Postgres from removing old row versions of this database. */
export type SnapshotHolder = {
  readonly pid: number;
  /** Its `application_name`; may be empty. */
  readonly application: string;
  readonly role: string;
  /** Such as `idle in transaction`; null, as `since`: the role of this session may not see it. */
  readonly activity: string | null;
  readonly since: Date | null;
  /** Transactions that began since. */
  readonly transactions: number;
};

/** Lists the sessions with an open transaction, oldest first, without autovacuum. A VACUUM keeps no row versions. */
export async function listSnapshotHolders(pool: pg.Pool): Promise<SnapshotHolder[]> {
  const { rows } = await pool.query<SnapshotHolder>(`
    SELECT pid, coalesce(application_name, '') AS application, usename::text AS role, state AS activity,
           xact_start AS since, age(coalesce(backend_xmin, backend_xid))::integer AS transactions
    FROM pg_stat_activity
    WHERE datname = current_database() AND usename IS NOT NULL AND pid <> pg_backend_pid()
      AND coalesce(backend_xmin, backend_xid) IS NOT NULL
      AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
    ORDER BY age(coalesce(backend_xmin, backend_xid)) DESC, xact_start
  `);
  return rows;
}

export type Role = { readonly name: string; readonly isSuperuser: boolean };

export async function readRole(pool: pg.Pool): Promise<Role> {
  const { rows } = await pool.query<Role>(
    'SELECT rolname::text AS name, rolsuper AS "isSuperuser" FROM pg_roles WHERE rolname = current_user',
  );
  const [role] = rows;
  if (!role) throw new Error('the role of this session is not in pg_roles');
  return role;
}

export type MissingRight = {
  readonly privilege: string;
  readonly kind: 'table' | 'sequence' | 'schema' | 'database';
  readonly name: string;
};

/**
 * Lists the rights of docs/how-to/deployment.md that the role lacks. The ledger's tables and sequences are those with
 * the owner of `runs`, since the database may have others.
 */
export async function listMissingRights(pool: pg.Pool): Promise<MissingRight[]> {
  const { rows } = await pool.query<MissingRight>(`
    WITH ledger AS (
      SELECT relowner AS owner, relnamespace AS schema FROM pg_class WHERE oid = 'runs'::regclass
    ), relation AS (
      SELECT c.oid, c.relname::text AS name, c.relkind
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN ledger ON c.relowner = ledger.owner
      WHERE (n.oid = ledger.schema OR n.nspname = 'volley_queue') 
        -- Rows are written to the partitioned table only.
        AND NOT (c.relispartition AND n.oid = ledger.schema) AND has_schema_privilege(n.oid, 'USAGE')
    ), needed AS (
      SELECT p.privilege, 'table' AS kind, name, has_table_privilege(oid, p.privilege) AS granted
      FROM relation
      CROSS JOIN unnest(CASE
        WHEN relkind = 'v' OR name LIKE 'knex_%' THEN ARRAY['SELECT']
        ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']
      END) AS p (privilege)
      WHERE relkind IN ('r', 'p', 'v')
      UNION ALL
      SELECT 'USAGE', 'sequence', name, CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE') END
      FROM relation
      WHERE relkind = 'S' AND name NOT LIKE 'knex_%'
      UNION ALL
      SELECT 'USAGE', 'schema', nspname::text, has_schema_privilege(oid, 'USAGE')
      FROM pg_namespace
      WHERE nspname = 'volley_queue'
      UNION ALL
      SELECT 'TEMPORARY', 'database', current_database()::text, has_database_privilege(current_database(), 'TEMPORARY')
    )
    SELECT privilege, kind, name FROM needed WHERE NOT granted ORDER BY kind, name, privilege
  `);
  return rows;
}

import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';
import type pg from 'pg';
import { InputError } from '../domain/problems.ts';
import { noLedgerError } from '../platform/database.ts';

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Any number: two engines must not migrate one database at once. */
const migrationLock = 7_306_915_042;

/** @returns the names of the migrations that were run */
export async function migrateLedger(knex: Knex): Promise<string[]> {
  return knex.transaction(async (lock) => {
    // Before anything else: even asking knex what is pending creates its tables.
    await lock.raw('SELECT pg_advisory_xact_lock(?)', [migrationLock]);
    const [, pending]: [unknown[], unknown[]] = await knex.migrate.list();
    if (pending.length === 0) return [];
    // Whoever held knex's own lock is gone, or it would hold ours: a killed migration must not block the next one.
    await knex.migrate.forceFreeMigrationsLock();
    const [, names]: [number, string[]] = await knex.migrate.latest();
    return names;
  });
}

export type MigrationGap = {
  /** This Volley has them, and the database has not. */
  readonly missing: readonly string[];
  /** The database has them from a newer Volley. */
  readonly unknown: readonly string[];
  /** No migration has run: there is no ledger in the database. */
  readonly empty: boolean;
};

export async function migrationGap(pool: pg.Pool): Promise<MigrationGap> {
  const ours = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.ts'));
  const there = new Set(await migrationsOf(pool));
  return {
    missing: ours.filter((name) => !there.has(name)),
    unknown: [...there].filter((name) => !ours.includes(name)),
    empty: there.size === 0,
  };
}

async function migrationsOf(pool: pg.Pool): Promise<string[]> {
  const found = await pool.query<{ table: string | null }>(`SELECT to_regclass('knex_migrations') AS table`);
  if (found.rows[0]?.table == null) return [];
  const { rows } = await pool.query<{ name: string }>('SELECT name FROM knex_migrations');
  return rows.map(({ name }) => name);
}

/**
 * What the opening of a ledger may do to its schema. `read` changes nothing; `work` brings an older schema up to date; `make`
 * also makes a new ledger in an empty database.
 */
export type SchemaAccess = 'read' | 'migrate' | 'create';

export type SchemaChange = {
  readonly migrated: readonly string[];
  readonly created: boolean;
};

/** @throws InputError when there is no ledger and none is to be made, or the schema is older and may not be changed */
export async function prepareSchema(
  pool: pg.Pool,
  knex: Knex,
  access: SchemaAccess,
  description: string,
): Promise<SchemaChange> {
  const { empty, missing } = await migrationGap(pool);
  if (empty && access !== 'create') throw noLedgerError(description);
  if (missing.length === 0) return { migrated: [], created: false };
  if (access === 'read') throw olderSchema(description, missing.length);
  const migrated = await migrateLedger(knex);
  // Another process may have been faster.
  return { migrated, created: empty && migrated.length > 0 };
}

function olderSchema(where: string, missing: number): InputError {
  const what = `is a ledger of an older Volley (${missing === 1 ? '1 migration is' : `${missing} migrations are`} missing), and a command that only looks changes nothing. \`volley db migrate\` brings it up to date.`;
  return new InputError([{ where, what }]);
}

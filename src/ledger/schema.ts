import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import type pg from 'pg';
import { InputError } from '../domain/problems.ts';
import { noLedgerError } from '../platform/database.ts';
import { hasCode } from '../platform/file-error.ts';
import { moduleExtension } from '../platform/package-folder.ts';

const folder = fileURLToPath(new URL('../../migrations', import.meta.url));

/** A migration has the same name in a checkout (`.ts`) and in the package (`.js`): that of its file, without extension. */
export const migrationSource: Knex.MigrationSource<string> = {
  async getMigrations() {
    const files = (await readdir(folder)).filter((file) => file.endsWith(moduleExtension));
    return files.map((file) => file.slice(0, -moduleExtension.length)).sort();
  },
  getMigrationName: (name) => name,
  getMigration: (name) => import(pathToFileURL(join(folder, `${name}${moduleExtension}`)).href),
};

/** An arbitrary lock number: one process migrates at a time. */
const migrationLock = 7_306_915_042;

/** @returns the names of new migrations */
export async function migrateLedger(knex: Knex): Promise<string[]> {
  return knex.transaction(async (lock) => {
    // First: even listing migrations creates knex's tables.
    await lock.raw('SELECT pg_advisory_xact_lock(?)', [migrationLock]);
    const [, pending]: [unknown[], unknown[]] = await knex.migrate.list();
    if (pending.length === 0) return [];
    // We hold our lock, so the process that held knex's has ended.
    await knex.migrate.forceFreeMigrationsLock();
    const [, names]: [number, string[]] = await knex.migrate.latest();
    return names;
  });
}

export type MigrationGap = {
  /** Known to this Volley only. */
  readonly missing: readonly string[];
  /** Known to the database only, from a newer Volley. */
  readonly unknown: readonly string[];
  /** The database has no ledger. */
  readonly empty: boolean;
};

export async function migrationGap(pool: pg.Pool): Promise<MigrationGap> {
  const ours = await migrationSource.getMigrations([]);
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
 * What opening a ledger may do: `read` changes nothing, `migrate` updates an older schema, `create` also makes a
 * ledger in an empty database.
 */
export type SchemaAccess = 'read' | 'migrate' | 'create';

export type SchemaChange = {
  readonly migrated: readonly string[];
  readonly created: boolean;
};

/** @throws InputError when the ledger is missing, or older than this Volley, and must not or may not be changed */
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
  const migrated = await migrateLedger(knex).catch((error: unknown) => {
    throw hasCode(error, insufficientPrivilege) ? mayNotMigrate(description, missing, error) : error;
  });
  // Another process may have been faster.
  return { migrated, created: empty && migrated.length > 0 };
}

const insufficientPrivilege = '42501';

function mayNotMigrate(where: string, missing: readonly string[], cause: unknown): InputError {
  const what = `needs ${missing.length === 1 ? '1 migration' : `${missing.length} migrations`}, and the role of DATABASE_URL may not change the tables. Run \`volley db migrate\` as the role that owns them (docs/how-to/upgrade.md).`;
  return new InputError([{ where, what }], { cause });
}

function olderSchema(where: string, missing: number): InputError {
  const what = `is a ledger of an older Volley (${missing === 1 ? '1 migration is' : `${missing} migrations are`} missing). This command only reads, so it changes nothing. Run \`volley db migrate\` first.`;
  return new InputError([{ where, what }]);
}

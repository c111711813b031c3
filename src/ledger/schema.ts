import type { Knex } from 'knex';
import type pg from 'pg';
import { InputError } from '../domain/problems.ts';
import { noLedgerError } from '../platform/database.ts';
import { hasCode } from '../platform/file-error.ts';
import { readVersion } from '../platform/package-folder.ts';
import { readSchemaState, type SchemaState } from './fingerprint.ts';

/** An arbitrary lock number: one process migrates at a time. */
const migrationLock = 7_306_915_042;

/** @returns the names of new migrations */
export async function migrateLedger(knex: Knex): Promise<string[]> {
  for (let deadlocks = 1; ; deadlocks++) {
    try {
      return await migrateOnce(knex);
    } catch (error) {
      if (!hasCode(error, deadlockDetected) || deadlocks === maxDeadlocks) throw error;
    }
  }
}

/** Postgres has undone the migration, so that a process that goes on working could go on. */
const deadlockDetected = '40P01';
const maxDeadlocks = 10;

async function migrateOnce(knex: Knex): Promise<string[]> {
  return knex.transaction(async (lock) => {
    // First: even listing migrations creates knex's tables.
    await lock.raw('SELECT pg_advisory_xact_lock(?)', [migrationLock]);
    const [, pending]: [unknown[], unknown[]] = await knex.migrate.list();
    if (pending.length === 0) return [];
    // We hold our lock, so the process that held knex's has ended. Postgres may still be committing its last migration.
    await knex.transaction((transaction) => transaction.raw('LOCK TABLE knex_migrations IN SHARE MODE'));
    await knex.migrate.forceFreeMigrationsLock();
    return migrateAll(knex);
  });
}

/** One by one: `latest` records a migration after its commit, so a process killed in between would make it run twice. */
async function migrateAll(knex: Knex): Promise<string[]> {
  const migrated: string[] = [];
  for (;;) {
    const [, names]: [number, string[]] = await knex.migrate.up();
    if (names.length === 0) return migrated;
    migrated.push(...names);
  }
}

/**
 * What opening a ledger may do: `read` changes nothing, `write` changes rows but no schema, `migrate` updates an older
 * schema, `create` also makes a ledger in an empty database.
 */
export type SchemaAccess = 'read' | 'write' | 'migrate' | 'create';

export type SchemaChange = {
  readonly migrated: readonly string[];
  readonly created: boolean;
  /** A newer Volley has migrated the ledger: what to say of that. The older processes go on. */
  readonly newer?: string;
};

/** @throws InputError when the ledger is missing or unfit, or older than this Volley and must not or may not be changed */
export async function prepareSchema(
  pool: pg.Pool,
  knex: Knex,
  access: SchemaAccess,
  description: string,
): Promise<SchemaChange> {
  const state = await readSchemaState(pool);
  switch (state.kind) {
    case 'fits':
      return { migrated: [], created: false };
    case 'newer':
      return { migrated: [], created: false, newer: sentences(state) };
    case 'altered':
    case 'before 0.3.0':
      throw new InputError([{ where: description, what: sentences(state) }]);
    case 'empty':
      if (access !== 'create') throw noLedgerError(description);
      break;
    case 'older':
      if (access === 'read' || access === 'write') throw olderSchema(description, state);
  }
  const migrated = await migrateLedger(knex).catch((error: unknown) => {
    throw hasCode(error, insufficientPrivilege) ? mayNotMigrate(description, state, error) : error;
  });
  // Another process may have been faster.
  return { migrated, created: state.kind === 'empty' && migrated.length > 0 };
}

const insufficientPrivilege = '42501';

function mayNotMigrate(where: string, state: SchemaState, cause: unknown): InputError {
  const needs = state.kind === 'older' ? `needs ${countMigrations(state.missing)}` : 'has no ledger yet';
  const what = `${needs}, and the role of DATABASE_URL may not change the tables. Run \`volley db migrate\` as the role that owns them (docs/how-to/upgrade.md).`;
  return new InputError([{ where, what }], { cause });
}

function olderSchema(where: string, state: SchemaState): InputError {
  const what = `${describeSchema(state).found}. This command does not change that. Run \`volley db migrate\` first.`;
  return new InputError([{ where, what }]);
}

export type SchemaFinding = {
  /** Begins with a verb, after "the ledger". */
  readonly found: string;
  /** A sentence; undefined: nothing has to be done. */
  readonly nextStep?: string;
};

/** Says for commands, `/readyz` and `volley doctor` how the schema fits. */
export function describeSchema(state: SchemaState): SchemaFinding {
  switch (state.kind) {
    case 'empty':
      return { found: 'is not there: the database is empty', nextStep: '`volley init` makes one in it.' };
    case 'before 0.3.0':
      return {
        found: `is from before Volley 0.3.0, and this one (${readVersion()}) cannot use it`,
        nextStep:
          'Make a new ledger, and take the suppressions along: docs/how-to/upgrade.md, "A ledger from before 0.3.0".',
      };
    case 'fits':
      return state.additions.length === 0
        ? { found: 'fits this version' }
        : {
            found: `fits this version, and has additions that are not of Volley: ${firstOf(state.additions)}`,
            nextStep: 'Check that they refuse or change nothing that Volley writes.',
          };
    case 'older':
      return {
        found: `is of an older Volley, ${state.volley} (${countMigrations(state.missing)} missing)`,
        nextStep: 'Run `volley db migrate`, as the owner of the tables.',
      };
    case 'newer':
      return {
        found: `is of a newer Volley, ${state.volley}; this one (${readVersion()}) does not know ${countMigrations(state.unknown)} (${firstOf(state.unknown)})`,
        nextStep: `Install Volley ${state.volley} here too.`,
      };
    case 'altered':
      return {
        found: `was altered: ${firstOf(state.differences)}`,
        nextStep:
          'Nothing is sent from it. Undo that as the owner of the tables, or restore a backup (docs/how-to/upgrade.md).',
      };
  }
}

function sentences(state: SchemaState): string {
  const { found, nextStep } = describeSchema(state);
  return [`${found}.`, ...(nextStep === undefined ? [] : [nextStep])].join(' ');
}

const countMigrations = ({ length }: readonly string[]): string =>
  length === 1 ? '1 migration' : `${length} migrations`;

const maxNamed = 5;

function firstOf(names: readonly string[]): string {
  const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : '';
  return `${names.slice(0, maxNamed).join('; ')}${more}`;
}

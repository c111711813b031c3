import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectLedger } from '../../src/ledger/connection.ts';
import { digestOf, readSchemaState } from '../../src/ledger/fingerprint.ts';
import { migrateLedger } from '../../src/ledger/schema.ts';
import { readVersion } from '../../src/platform/package-folder.ts';
import { createBareDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
/** A pool ends before its connections do, so dropping the database may still break them. */
function openPool(config: pg.PoolConfig): pg.Pool {
  const opened = new pg.Pool(config);
  opened.on('error', () => undefined);
  return opened;
}

let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  pool = openPool({ ...database.connection, max: 1 });
  return () => pool.end();
});
afterAll(() => database.drop());

const volley = readVersion();

/** The state after these changes, which are then undone. */
async function stateAfter(changes: string) {
  await pool.query(`BEGIN; ${changes}`);
  try {
    return await readSchemaState(pool);
  } finally {
    await pool.query('ROLLBACK');
  }
}

test('a ledger of this version fits, and so does one with more tables, or an index of an operator', async () => {
  expect(await readSchemaState(pool)).toEqual({ kind: 'fits', additions: [] });
  const changes = `CREATE TABLE other (words text); CREATE FUNCTION other() RETURNS int LANGUAGE sql AS 'SELECT 1';
                   CREATE INDEX runs_of_operator ON runs (finished_at)`;
  expect(await stateAfter(changes)).toEqual({ kind: 'fits', additions: [] });
});

test('a ledger that its own migrations have not made like this is altered, and each difference has a name', async () => {
  const changes = `
    ALTER TABLE suppressions DROP COLUMN added_by;
    ALTER TABLE suppressions ALTER COLUMN reason DROP NOT NULL;
    ALTER TABLE runs ALTER COLUMN campaign TYPE varchar(99);
    ALTER TABLE suppressions DISABLE TRIGGER suppressions_begin_epoch;
    ALTER TABLE audit DROP CONSTRAINT audit_via_check;
    DROP TABLE startup_grace;
    DROP INDEX runs_of_campaign;
    CREATE OR REPLACE FUNCTION begin_suppression_epoch() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
  `;
  expect(await stateAfter(changes)).toEqual({
    kind: 'altered',
    volley,
    differences: [
      'column runs.campaign is character varying(99):not_null, not text:not_null',
      'column suppressions.added_by is missing',
      'column suppressions.reason is text, not text:not_null',
      'constraint audit.audit_via_check is missing',
      expect.stringMatching(/^function begin_suppression_epoch\(\) is trigger:\w+, not trigger:\w+$/),
      'index runs.runs_of_campaign is missing',
      'table startup_grace is missing',
      'trigger suppressions.suppressions_begin_epoch is disabled, not enabled',
    ],
  });
});

test('what an operator added to a table of Volley is named', async () => {
  const changes = `ALTER TABLE runs ADD COLUMN mine text; CREATE UNIQUE INDEX one_address ON suppressions (address)`;
  expect(await stateAfter(changes)).toEqual({
    kind: 'fits',
    additions: ['column runs.mine', 'unique_index suppressions.one_address'],
  });
});

test('a ledger without a migration is older, and one with an unknown migration is newer and names its Volley', async () => {
  const last = `DELETE FROM knex_migrations WHERE name = '20261122000009_audit'`;
  expect(await stateAfter(last)).toEqual({ kind: 'older', volley, missing: ['20261122000009_audit'] });
  const later = `UPDATE ledger_schema SET volley = '9.1.0'; INSERT INTO knex_migrations (name) VALUES ('2999_later')`;
  expect(await stateAfter(later)).toEqual({ kind: 'newer', volley: '9.1.0', unknown: ['2999_later'] });
  expect(await stateAfter(`${last}; ${later}`)).toEqual({
    kind: 'altered',
    volley: '9.1.0',
    differences: ['migration 2999_later is not of this Volley'],
  });
});

test('a ledger that was made with another text of a migration is altered', async () => {
  const changes = `UPDATE ledger_schema SET migrations = migrations || '{"20261122000009_audit": "another"}'`;
  expect(await stateAfter(changes)).toMatchObject({
    kind: 'altered',
    differences: ['migration 20261122000009_audit was another one'],
  });
});

test('a database without migrations is empty, and one with migrations and no fingerprint is from before 0.3.0', async () => {
  expect(await stateOfBare('CREATE TABLE runs ()')).toEqual({ kind: 'empty' });
  const former = `CREATE TABLE knex_migrations (name text); INSERT INTO knex_migrations VALUES ('20261121000000_ledger.ts')`;
  expect(await stateOfBare(former)).toEqual({ kind: 'before 0.3.0' });
  expect(await stateOfBare('CREATE TABLE knex_migrations (name text)')).toEqual({ kind: 'empty' });
});

async function stateOfBare(statements: string) {
  const bare = await createBareDatabase();
  const other = openPool(bare.connection);
  try {
    await other.query(statements);
    return await readSchemaState(other);
  } finally {
    await other.end();
    await bare.drop();
  }
}

test('tables that others have in the database are not recorded, when it is migrated and when it is reverted', async () => {
  const bare = await createBareDatabase();
  const knex = connectLedger(bare.connection);
  const other = openPool(bare.connection);
  try {
    await other.query('CREATE TABLE others (words text)');
    await migrateLedger(knex);
    await other.query('DROP TABLE others');
    expect(await readSchemaState(other)).toEqual({ kind: 'fits', additions: [] });
    await knex.migrate.down();
    expect(await readSchemaState(other)).toMatchObject({ kind: 'older', missing: [expect.any(String)] });
    await migrateLedger(knex);
    expect(await readSchemaState(other)).toEqual({ kind: 'fits', additions: [] });
  } finally {
    await knex.destroy();
    await other.end();
    await bare.drop();
  }
});

const folder = new URL('../../migrations/', import.meta.url);

test('a migration has the same digest in a checkout and in the package, without its types', () => {
  const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  expect(sources.length).toBeGreaterThan(10);
  const digests = sources.map(digestOf);
  expect(sources.map((source) => digestOf(stripTypeScriptTypes(source)))).toEqual(digests);
  expect(digestOf(sources[1]?.replace('text NOT NULL', 'text') ?? '')).not.toBe(digests[1]);
});

import { readdirSync, readFileSync } from 'node:fs';
import type { Knex } from 'knex';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectLedger } from '../../src/ledger/connection.ts';
import { digestOf, readSchemaState } from '../../src/ledger/fingerprint.ts';
import { migrateLedger } from '../../src/ledger/schema.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let knex: Knex;
beforeAll(async () => {
  database = await createTestDatabase();
  knex = connectLedger(database.connection);
});
afterAll(async () => {
  await knex.destroy();
  await database.drop();
});

/** Objects that the migrations created, without knex's own. */
async function made(): Promise<string[]> {
  const { rows }: { rows: { name: string }[] } = await knex.raw(`
    SELECT name
    FROM (
      SELECT relname, relnamespace FROM pg_class WHERE relkind IN ('r', 'p', 'S', 'v')
      UNION ALL
      SELECT proname, pronamespace FROM pg_proc
      UNION ALL
      SELECT typname, typnamespace FROM pg_type WHERE typtype = 'd'
    ) AS found (name, namespace)
    WHERE namespace::regnamespace::text IN ('public', 'volley_queue') AND name NOT LIKE 'knex_migrations%'
    ORDER BY name
  `);
  return rows.map(({ name }) => name);
}

test('reverted migrations leave nothing behind, and run again they create the same ledger', async () => {
  const before = await made();
  await knex.migrate.rollback(undefined, true);
  const between = await made();
  await migrateLedger(knex);
  expect(before).toEqual(
    expect.arrayContaining(['runs', 'requests', 'refuse_audit_change', 'message_id', 'job']),
  );
  expect(between).toEqual([]);
  expect(await made()).toEqual(before);
});

test('a ledger with the other texts of two migrations becomes equal to one with the recorded texts', async () => {
  const before = await made();
  const later = ['20261127180202_words_in_blocks', '20261128120101_blocks_read_once'];
  await knex('knex_migrations').whereIn('name', later).delete();
  await knex.raw(
    `UPDATE ledger_schema SET migrations = (migrations - CAST(? AS text[])) || CAST(? AS jsonb)`,
    [
      later,
      JSON.stringify({
        '20261127180101_inbox_blocks': '66a946440e8755d1',
        '20261127180201_folded_outcomes': '87ab7122b703def4',
      }),
    ],
  );
  const pool = new pg.Pool(database.connection);
  expect(await readSchemaState(pool)).toMatchObject({ kind: 'older', missing: later });
  expect(await migrateLedger(knex)).toEqual(later);
  expect(await readSchemaState(pool)).toEqual({ kind: 'fits', additions: [] });
  await pool.end();
  expect(await made()).toEqual(before);
});

const releases = readdirSync(new URL('../fixtures/ledgers/', import.meta.url)).filter(
  (name) => !name.endsWith('.ts'),
);

const recorded = [
  ...releases.map((release) => [`of release ${release}`, `ledgers/${release}/migrations.json`]),
  // Each migration adds its line when it lands: ledgers of a checkout have it from then on.
  ['that has landed since', 'landed-migrations.json'],
];

test.each(recorded)('no migration %s was edited or removed: migrations are only added', (_, file) => {
  const digests: Readonly<Record<string, string>> = JSON.parse(
    readFileSync(new URL(`../fixtures/${file}`, import.meta.url), 'utf8'),
  );
  const found = Object.keys(digests).map((name) => {
    const source = readFileSync(new URL(`../../migrations/${name}.ts`, import.meta.url), 'utf8');
    return [name, digestOf(source)];
  });
  expect(Object.fromEntries(found)).toEqual(digests);
});

test('every migration is recorded', () => {
  const names = recorded.flatMap(([, file]) =>
    Object.keys(JSON.parse(readFileSync(new URL(`../fixtures/${file}`, import.meta.url), 'utf8'))),
  );
  const files = readdirSync(new URL('../../migrations/', import.meta.url));
  expect(names.toSorted()).toEqual(files.map((file) => file.replace('.ts', '')).toSorted());
});

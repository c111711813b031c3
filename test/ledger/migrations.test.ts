import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectLedger } from '../../src/ledger/connection.ts';
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

/** What the migrations made: tables, views, sequences, functions and types, apart from what knex keeps for itself. */
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

test('the migrations taken back leave nothing behind, and then make the same ledger again', async () => {
  const before = await made();
  await knex.migrate.rollback(undefined, true);
  const between = await made();
  await migrateLedger(knex);
  expect(before).toEqual(expect.arrayContaining(['runs', 'requests', 'note_run_state', 'message_id', 'job']));
  expect(between).toEqual([]);
  expect(await made()).toEqual(before);
});

test('every change of the state of a run is noted, with its reason and time; a change of the reason alone is not', async () => {
  await knex.raw(`
    INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                      contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
    VALUES ('noted', 'c', 'a', 'sms', 'planned', '{}', '\\x00112233445566778899aabbccddeeff', '2026-11-01T00:00Z',
            1, 0, 0, 0);
    UPDATE runs SET state = 'running';
    UPDATE runs SET state = 'cancelled', state_reason = 'too late', finished_at = '2026-11-01T03:00Z';
    UPDATE runs SET state_reason = 'said again';
  `);
  const known = await knex('run_states').where({ run_id: 'noted' }).orderBy('change');
  expect(known.map(({ state, reason }) => [state, reason])).toEqual([
    ['planned', null],
    ['running', null],
    ['cancelled', 'too late'],
  ]);
  expect(known[0].changed_at).toEqual(new Date('2026-11-01T00:00Z'));
  expect(known[2].changed_at).toEqual(new Date('2026-11-01T03:00Z'));
});

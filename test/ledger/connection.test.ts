import { readdirSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InputError } from '../../src/domain/problems.ts';
import { connectLedger, openLedger } from '../../src/ledger/connection.ts';
import { applySettings } from '../../src/ledger/pools.ts';
import { migrateLedger } from '../../src/ledger/schema.ts';
import type { Connection, ReadConnection, Snapshot, Transaction } from '../../src/ledger/session.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await empty();
});
afterAll(() => database.drop());

const migrations = readdirSync(new URL('../../migrations', import.meta.url))
  .map((file) => file.replace('.ts', ''))
  .toSorted();

async function empty(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
}

test('several engines that open an empty database at once migrate it once', async () => {
  const ledgers = await Promise.all(Array.from({ length: 4 }, () => openLedger(database.connection, 'test')));
  const { rows } = await (ledgers[0]?.pool.query('SELECT count(*)::integer AS done FROM knex_migrations') ?? {
    rows: [],
  });
  expect(rows).toEqual([{ done: migrations.length }]);
  await Promise.all(ledgers.map((ledger) => ledger.close()));
});

test('a killed migration does not block the next one', async () => {
  const knex = connectLedger(database.connection);
  await knex.migrate.rollback(undefined, true);
  await knex('knex_migrations_lock').update({ is_locked: 1 });
  expect(await migrateLedger(knex)).toEqual(migrations);
  await knex.destroy();
});

test('a database that is up to date is not migrated', async () => {
  const knex = connectLedger(database.connection);
  await migrateLedger(knex);
  expect(await migrateLedger(knex)).toEqual([]);
  await knex.destroy();
});

test('no connection of a ledger that is opened to read can change it', async () => {
  const ledger = await openLedger(database.connection, 'test', { access: 'read' });
  const change = `INSERT INTO suppressions (channel, address, sub_account, reason, source)
                  VALUES ('sms', '+61412345678', '', '', 'operator')`;
  await expect(ledger.pool.query(change)).rejects.toThrow('read-only transaction');
  await expect(ledger.knex.raw(change)).rejects.toThrow('read-only transaction');
  await ledger.close();
});

test('settings that the database does not know are skipped, and the others are applied', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await applySettings(client, { of_no_postgres: 'on', enable_seqscan: 'off' });
  expect((await client.query('SHOW enable_seqscan')).rows).toEqual([{ enable_seqscan: 'off' }]);
  await client.end();
});

test('the error for a database that does not answer names it, without a password', async () => {
  const connectionString = 'postgres://volley:hush@127.0.0.1:1/volley';
  const failure = openLedger({ connectionString }, 'Postgres at 127.0.0.1:1/volley');
  await expect(failure).rejects.toThrow(InputError);
  await expect(failure).rejects.toThrow(/^Postgres at 127\.0\.0\.1:1\/volley: .*ECONNREFUSED/);
  await expect(failure).rejects.not.toThrow(/hush/);
});

test('the error for a missing database says that it does not exist', async () => {
  const url = new URL(database.url);
  url.pathname = '/no_such_database';
  await expect(openLedger({ connectionString: url.href }, 'Postgres')).rejects.toThrow(
    /database "no_such_database" does not exist/,
  );
});

test('what writes or decides about sending cannot be given a replica', () => {
  const given = (replica: ReadConnection, snapshot: Snapshot) => {
    // @ts-expect-error a replica takes no changes
    const writing: Connection = replica;
    // @ts-expect-error not in a snapshot either
    const changing: Transaction = snapshot;
    return [writing, changing];
  };
  const reading = (primary: pg.Pool, transaction: Transaction): [ReadConnection, Snapshot] => [
    primary,
    transaction,
  ];
  expect(given.length + reading.length).toBe(4);
});

import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectLedger } from '../../src/ledger/connection.ts';
import { migrateLedger } from '../../src/ledger/schema.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let knex: Knex;
beforeAll(async () => {
  database = await createTestDatabase();
  knex = connectLedger(database.connection);
  await migrateLedger(knex);
});
afterAll(async () => {
  await knex.destroy();
  await database.drop();
});

describe('files of the envelope', () => {
  const later = '20261121120000_envelope_files.ts';

  test('a run that was planned before still sends its files, in their order, with every request', async () => {
    await knex.migrate.down({ name: later });
    await knex.raw(`
      INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                        contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
      VALUES ('old', 'c', 'a', 'fax', 'planned', '{}', '\\x00112233445566778899aabbccddeeff', now(), 2, 0, 0, 0);
      INSERT INTO run_files (run_id, position, name, data)
      VALUES ('old', 1, 'b.pdf', 'first'), ('old', 2, 'a.pdf', 'second');
      INSERT INTO envelopes (run_id, envelope, fields) VALUES ('old', 1, '{"SubAccount":"A"}'), ('old', 2, '{}');
    `);
    await migrateLedger(knex);

    const files = [
      { path: '1/b.pdf', name: 'b.pdf' },
      { path: '2/a.pdf', name: 'a.pdf' },
    ];
    expect(await knex('envelopes').orderBy('envelope').select('fields', 'keypads', 'files', 'audio')).toEqual(
      [
        { fields: { SubAccount: 'A' }, keypads: [], files, audio: {} },
        { fields: {}, keypads: [], files, audio: {} },
      ],
    );
    expect(await knex('run_files').orderBy('path').select('path', 'data')).toEqual([
      { path: '1/b.pdf', data: Buffer.from('first') },
      { path: '2/a.pdf', data: Buffer.from('second') },
    ]);
  });

  test('can be taken back', async () => {
    await knex.migrate.down({ name: later });
    expect(await knex('run_files').orderBy('position').select('position', 'name', 'data')).toEqual([
      { position: 1, name: 'b.pdf', data: Buffer.from('first') },
      { position: 2, name: 'a.pdf', data: Buffer.from('second') },
    ]);
    await migrateLedger(knex);
  });

  test('can be taken back with more than nine files, and with names that hold a slash', async () => {
    await knex.migrate.down({ name: later });
    await knex.raw(`
      INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                        contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
      VALUES ('many', 'c', 'a', 'fax', 'planned', '{}', '\\x00112233445566778899aabbccddeeff', now(), 1, 0, 0, 0),
             ('nobody', 'c', 'a', 'fax', 'planned', '{}', '\\x00112233445566778899aabbccddeeff', now(), 0, 0, 0, 0);
      INSERT INTO run_files (run_id, position, name, data)
      SELECT 'many', n, 'page ' || n || '/12.pdf', 'x'::bytea FROM generate_series(1, 12) AS n
      UNION ALL
      SELECT 'nobody', 1, 'a.pdf', 'x';
      INSERT INTO envelopes (run_id, envelope, fields) VALUES ('many', 1, '{}');
    `);
    const files = () =>
      knex('run_files')
        .whereIn('run_id', ['many', 'nobody'])
        .orderBy(['run_id', 'position'])
        .select('run_id', 'position', 'name');
    const before = await files();
    await migrateLedger(knex);
    await knex.migrate.down({ name: later });
    expect(await files()).toEqual(before);
    await migrateLedger(knex);
  });
});

describe('suppressions', () => {
  test('taken back, recipients who were left out stay unsent in the words of the earlier table', async () => {
    await knex.raw(`
      INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                        contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
      VALUES ('left', 'c', 'a', 'sms', 'completed', '{}', '\\x00112233445566778899aabbccddeeff', now(), 3, 0, 0, 0);
      INSERT INTO envelopes (run_id, envelope, fields) VALUES ('left', 1, '{}');
      INSERT INTO requests (run_id, request, message_id, envelope, recipients, state)
      VALUES ('left', 1, 'a', 1, 2, 'accepted'), ('left', 2, 'b', 1, 1, 'cancelled');
      INSERT INTO chunks (run_id, request, lines, addresses, original_addresses, parts, destinations)
      VALUES ('left', 1, '{2,3}', '{+6421,+6422}', '{NULL,NULL}', '{NULL,NULL}', '[{},{}]'),
             ('left', 2, '{4}', '{+6423}', '{NULL}', '{NULL}', '[{}]');
      INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
      VALUES ('left', 1, 2, 'cancelled', 'suppressed', now()), ('left', 2, 1, 'cancelled', 'suppressed', now());
    `);
    await knex.migrate.down({ name: '20261121140000_chunks.ts' });
    await knex.migrate.down({ name: '20261121130000_suppressions.ts' });
    expect(
      await knex('recipients')
        .where({ run_id: 'left' })
        .orderBy(['request', 'position'])
        .select('line', 'outcome', 'result'),
    ).toEqual([
      { line: 2, outcome: null, result: null },
      { line: 3, outcome: 'undelivered', result: 'suppressed' },
      { line: 4, outcome: null, result: null },
    ]);
    await migrateLedger(knex);
    expect(await knex('suppressions').select()).toEqual([]);
  });
});

describe('the recipients of a request in one row', () => {
  const chunksMigration = '20261121140000_chunks.ts';

  const recipients = () =>
    knex('recipients')
      .where({ run_id: 'kept' })
      .orderBy(['request', 'position'])
      .select(
        ...['request', 'position', 'line', 'address', 'original_address', 'destination'],
        ...['outcome', 'result', 'units', 'price'],
      );

  test('are those of runs that were planned before, in their order, with their outcomes; and it can be taken back', async () => {
    await knex.migrate.down({ name: chunksMigration });
    await knex.raw(`
      INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                        contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
      VALUES ('kept', 'c', 'a', 'sms', 'running', '{}', '\\x00112233445566778899aabbccddeeff', now(), 3, 0, 0, 0);
      INSERT INTO envelopes (run_id, envelope, fields) VALUES ('kept', 1, '{}');
      INSERT INTO requests (run_id, request, message_id, envelope, recipients)
      VALUES ('kept', 1, 'm1', 1, 2), ('kept', 2, 'm2', 1, 1);
      INSERT INTO recipients (run_id, request, position, line, address, original_address, destination,
                              outcome, result, units, price, reported_at)
      VALUES ('kept', 1, 2, 5, '+612', '02', '{}', NULL, NULL, NULL, NULL, NULL),
             ('kept', 1, 1, 2, '+611', '+611', '{"Custom1": "x\\"y"}', 'delivered', 'SentOK', 1, 0.08, now()),
             ('kept', 2, 1, 9, '+613', '03', '{}', 'cancelled', 'suppressed', NULL, NULL, now());
    `);
    const before = await recipients();
    expect(before).toHaveLength(3);
    await migrateLedger(knex);

    expect(await knex('chunks').where({ run_id: 'kept' }).orderBy('request')).toMatchObject([
      { lines: [2, 5], addresses: ['+611', '+612'], original_addresses: [null, '02'] },
      { lines: [9], addresses: ['+613'], original_addresses: ['03'] },
    ]);
    expect(await knex('recipient_outcomes').where({ run_id: 'kept' }).orderBy('request')).toMatchObject([
      { request: 1, position: 1, outcome: 'delivered', result: 'SentOK' },
      { request: 2, position: 1, outcome: 'cancelled' },
    ]);
    await knex.migrate.down({ name: chunksMigration });
    expect(await recipients()).toEqual(before);
    await migrateLedger(knex);
  });
});

test('of runs from before, the beginning and the end are known; from then on every change of state', async () => {
  const states = '20261122000000_run_states.ts';
  await knex.migrate.down({ name: states });
  await knex.raw(`
    INSERT INTO runs (run_id, campaign, account, channel, state, state_reason, definition, message_key, created_at,
                      finished_at, contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
    VALUES ('before', 'c', 'a', 'sms', 'cancelled', 'too late', '{}', '\\x00112233445566778899aabbccddeeff',
            '2026-11-01T00:00Z', '2026-11-01T03:00Z', 1, 0, 0, 0);
    INSERT INTO attempts (run_id, request, attempt, owner, started_at)
    VALUES ('before', 1, 1, gen_random_uuid(), '2026-11-01T02:00Z'),
           ('before', 2, 1, gen_random_uuid(), '2026-11-01T01:00Z');
  `);
  await migrateLedger(knex);
  await knex('runs').where({ run_id: 'before' }).update({ state: 'cancelled', state_reason: 'said again' });
  await knex('runs').where({ run_id: 'before' }).update({ state: 'running', finished_at: null });
  const known = await knex('run_states').where({ run_id: 'before' }).orderBy('change');
  expect(known.map(({ state, reason }) => [state, reason])).toEqual([
    ['planned', null],
    ['running', null],
    ['cancelled', 'too late'],
    ['running', 'said again'],
  ]);
  expect(known.slice(0, 3).map(({ changed_at }) => changed_at.toISOString())).toEqual([
    '2026-11-01T00:00:00.000Z',
    '2026-11-01T01:00:00.000Z',
    '2026-11-01T03:00:00.000Z',
  ]);
});

test('job numbers are those that were answered before, in capitals, and can be taken back', async () => {
  const jobs = '20261121213000_job_numbers.ts';
  await knex.migrate.down({ name: jobs });
  await knex.raw(`
    INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                      contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
    VALUES ('called', 'c', 'soap', 'tts', 'running', '{}', '\\x00112233445566778899aabbccddeeff', now(), 3, 0, 0, 0);
    INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, detail)
    SELECT 'called', request, 1, gen_random_uuid(), now(), now(), verdict, detail
    FROM (VALUES (1, 'accepted', 'job 12ab34cd'), (2, 'accepted', NULL), (3, 'rejected', 'job market closed'))
      AS answered (request, verdict, detail);
  `);
  await migrateLedger(knex);
  expect(await knex('jobs').select('job_number', 'account', 'run_id', 'request')).toEqual([
    { job_number: '12AB34CD', account: 'soap', run_id: 'called', request: 1 },
  ]);
  await knex.migrate.down({ name: jobs });
  expect(await knex.schema.hasTable('jobs')).toBe(false);
  await migrateLedger(knex);
});

test('a ledger in which suppressions are hashed is not taken back to where nobody would heed them', async () => {
  const purge = '20261122000000_purge.ts';
  await knex.raw(`
    INSERT INTO hashed_suppressions (channel, hash, source, created_at) VALUES ('sms', '\\x00', 'reply', now())
  `);
  await expect(knex.migrate.down({ name: purge })).rejects.toThrow('earlier versions would not heed');
  await knex.raw('DELETE FROM hashed_suppressions');
  await knex.migrate.down({ name: purge });
  expect(await knex.schema.hasColumn('runs', 'purged_at')).toBe(false);
  await migrateLedger(knex);
});

test('what is to be told can be taken back, and runs are completed as before', async () => {
  await using cleanUp = new AsyncDisposableStack();
  // Of its own: tests above take away what its triggers are on.
  const own = cleanUp.adopt(await createTestDatabase(), (it) => it.drop());
  const ledger = cleanUp.adopt(connectLedger(own.connection), (it) => it.destroy());
  await ledger.migrate.down({ name: '20261122054500_notifications.ts' });
  await ledger.raw(`
    INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                      contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
    VALUES ('old', 'c', 'a', 'sms', 'planned', '{}', '\\x00112233445566778899aabbccddeeff', now(), 0, 0, 0, 0);
    UPDATE runs SET state = 'completed', finished_at = now() WHERE run_id = 'old';
  `);
  await migrateLedger(ledger);
  await ledger.raw(`UPDATE runs SET state = 'paused', state_reason = 'again' WHERE run_id = 'old'`);
  expect(await ledger('notifications').count()).toEqual([{ count: '0' }]);
});

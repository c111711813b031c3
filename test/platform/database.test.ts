import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { InputError } from '../../src/domain/problems.ts';
import { leaseDatabase } from '../../src/platform/database.ts';
import { embeddedServerStatus } from '../../src/platform/embedded-postgres.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeHome, removeHome } from '../support/embedded-home.ts';
import { runStatement } from '../support/statement.ts';

test('DATABASE_URL wins over an embedded server, and its password is not in the description', async () => {
  const home = makeHome('volley-test-home-');
  onTestFinished(() => removeHome(home));
  const url = 'postgres://volley:pass%40word@db.example:6432/ledger';

  const lease = await leaseDatabase({ DATABASE_URL: url, VOLLEY_HOME: home }, '/', true);
  await lease.release();

  expect(lease.connection).toEqual({ connectionString: url });
  expect(lease.description).toBe('Postgres at db.example:6432/ledger');
  expect(embeddedServerStatus(home).state).toBe('stopped');
});

test.each([
  ['postgres://volley:hush@db.example/ledger', true],
  ['postgres://volley:hush@192.0.2.7:6432/ledger?sslmode=disable', true],
  ['postgres://volley:hush@db.example/ledger?sslmode=verify-full', false],
  ['postgres://volley:hush@db.example/ledger?ssl=true', false],
  ['postgres://volley:hush@127.0.0.1/ledger', false],
  ['postgres://volley:hush@localhost:5433/ledger', false],
  ['postgres://volley:hush@[::1]/ledger', false],
  ['postgres:///ledger?host=/run/postgresql', false],
  ['postgres://volley@%2Frun%2Fpostgresql/ledger', false],
])('%s: leaseDatabase warns about an unencrypted connection: %j', async (url, warned) => {
  const { warning } = await leaseDatabase({ DATABASE_URL: url }, '/', false);
  expect(warning !== undefined).toBe(warned);
  expect(warning ?? '').not.toContain('hush');
  const trusted = await leaseDatabase({ DATABASE_URL: url, PGSSLMODE: 'require' }, '/', false);
  expect(trusted.warning !== undefined).toBe(url.includes('sslmode=disable'));
});

test.each(['mysql://volley:secret@db.example/ledger', 'secret', 'postgres//db.example', ' '])(
  'an invalid DATABASE_URL %j throws an InputError that does not repeat it',
  async (url) => {
    const failure = await leaseDatabase({ DATABASE_URL: url }, '/', false).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(InputError);
    expect(failure).toHaveProperty('problems.0.where', 'DATABASE_URL');
    expect(String(failure)).not.toContain('secret');
  },
);

test('without DATABASE_URL the embedded server is in VOLLEY_HOME, which may be relative to the working folder', async () => {
  const folder = makeHome('volley-test-home-');
  onTestFinished(async () => {
    await removeHome(join(folder, 'state'));
    await removeHome(folder);
  });

  const lease = await leaseDatabase({ DATABASE_URL: '', VOLLEY_HOME: 'state' }, folder, true);
  await lease.release();

  expect(lease.connection).toMatchObject({ user: 'volley', database: 'volley' });
  expect(lease.description).toContain(`${folder}/state`);
});

test('each test database is a separate migrated clone', async () => {
  const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  onTestFinished(() => Promise.all([one.drop(), other.drop()]).then(() => undefined));
  await runStatement(one.url, 'CREATE TABLE only_here ()');

  const seenInOther = await runStatement(other.url, `SELECT to_regclass('only_here') AS found`);
  const migrations = await runStatement(other.url, 'SELECT name FROM knex_migrations');

  expect(seenInOther).toEqual([{ found: null }]);
  expect(migrations.length).toBeGreaterThan(0);
});

import { hash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { connectLedger } from '../../src/ledger/connection.ts';
import { migrateLedger } from '../../src/ledger/schema.ts';
import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import {
  copyHome,
  deleteHome,
  folderInMemory,
  makeHome,
  removeAbandonedHomes,
  removeHome,
  throwAwayOptions,
} from './embedded-home.ts';
import { grantTestRights, tuneForTests, urlOfServer } from './server-rights.ts';
import { dropDatabase, runStatement, urlOfDatabase } from './statement.ts';

/** Per checkout: another version could treat our server as unused and stop it. */
const homePrefix = `volley-tests-${hash('sha256', import.meta.dirname).slice(0, 8)}-`;

/**
 * Provides one server for the whole run: that of TEST_DATABASE_URL, or a throw-away one. Random names allow
 * parallel runs.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer(
    process.env['TEST_DATABASE_URL'],
    project.getProvidedContext().filesInMemory,
  );
  const template = `volley_test_${randomBytes(6).toString('hex')}`;
  const tearDown = async () => {
    await dropDatabases(server.url, template);
    await server.stop();
  };
  try {
    await createTemplate(server.url, template);
  } catch (error) {
    await tearDown();
    throw error;
  }
  project.provide('testServerUrl', server.url);
  project.provide('testTemplate', template);
  project.provide('initialHome', server.initialHome);
  return tearDown;
}

type TestServer = {
  readonly url: string;
  /** Without a server. */
  readonly initialHome: string | undefined;
  readonly stop: () => Promise<void>;
};

async function startServer(url: string | undefined, inMemory: boolean): Promise<TestServer> {
  if (url) return { url, initialHome: undefined, stop: async () => {} };
  const folder = inMemory ? folderInMemory() : tmpdir();
  await removeAbandonedHomes(homePrefix, folder);
  const home = makeHome(homePrefix, undefined, folder);
  const initialHome = join(home, 'initial');
  mkdirSync(initialHome);
  chmodSync(initialHome, 0o711);
  await (await leaseEmbeddedServer(initialHome, throwAwayOptions)).release();
  copyHome(initialHome, home);
  const { address } = await leaseEmbeddedServer(home, throwAwayOptions);
  useForTemporaryFiles(join(home, 'tmp'));
  await grantTestRights(address);
  await tuneForTests(address);
  // Ctrl-C skips the tear-down.
  process.once('exit', () => {
    const status = embeddedServerStatus(home);
    if (status.state === 'running') process.kill(status.pid, 'SIGQUIT');
    deleteHome(home);
  });
  return {
    url: `${urlOfServer(address)}/postgres`,
    initialHome,
    stop: () => removeHome(home),
  };
}

/** In the processes of all tests. They are removed with the server, also after a run that was killed. */
function useForTemporaryFiles(folder: string): void {
  mkdirSync(folder);
  // Open to all users, as other folders for temporary files.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
}

async function createTemplate(server: string, template: string): Promise<void> {
  await runStatement(server, `CREATE DATABASE ${template}`);
  const knex = connectLedger({ connectionString: urlOfDatabase(server, template) });
  try {
    await migrateLedger(knex);
    // Cloned databases must not count as restored ones.
    await knex.raw('UPDATE ledger_location SET location = NULL');
  } finally {
    await knex.destroy();
  }
  // A template can only be cloned without connections to it.
  await runStatement(server, `ALTER DATABASE ${template} ALLOW_CONNECTIONS false`);
}

async function dropDatabases(server: string, prefix: string): Promise<void> {
  const rows = await runStatement(server, `SELECT datname FROM pg_database WHERE starts_with(datname, $1)`, [
    prefix,
  ]);
  for (const { datname } of rows) await dropDatabase(server, String(datname));
}

import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome, throwAwayOptions } from '../support/embedded-home.ts';
import { grantTestRights, superuserUrl, urlOfServer } from '../support/server-rights.ts';
import { runStatement } from '../support/statement.ts';

export type BenchServer = {
  /** Without a database. */
  readonly url: string;
  /** Process id. */
  readonly postmaster: number;
};

type StartedServer = BenchServer & {
  readonly superuserUrl: string;
  /** Where its files are. */
  readonly dataFolder: string;
};

/** A Postgres for one benchmark: with its default settings, or `disposable`, which flushes nothing to disk. */
export async function startServer(
  settings: 'default' | 'disposable' = 'default',
): Promise<StartedServer & AsyncDisposable> {
  const home = makeHome('volley-bench-');
  const lease = await leaseEmbeddedServer(home, settings === 'disposable' ? throwAwayOptions : {});
  await grantTestRights(lease.address);
  const status = embeddedServerStatus(home);
  return {
    url: urlOfServer(lease.address),
    superuserUrl: superuserUrl(lease.address),
    dataFolder: status.dataFolder,
    postmaster: status.state === 'running' ? status.pid : Number.NaN,
    async [Symbol.asyncDispose]() {
      await lease.release();
      deleteHome(home);
    },
  };
}

/** @returns its address */
export async function createDatabase(server: Pick<BenchServer, 'url'>, name: string): Promise<string> {
  await runStatement(`${server.url}/postgres`, `CREATE DATABASE ${name}`);
  return `${server.url}/${name}`;
}

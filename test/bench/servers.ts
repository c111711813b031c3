import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome, throwAwayOptions } from '../support/embedded-home.ts';
import { grantTestRights, urlOfServer } from '../support/server-rights.ts';
import { runStatement } from '../support/statement.ts';

/** `url`: without a database. `postmaster`: its process id. */
export type BenchServer = { readonly url: string; readonly postmaster: number };

/** A Postgres for one benchmark: with its default settings, or `disposable`, which flushes nothing to disk. */
export async function startServer(
  settings: 'default' | 'disposable' = 'default',
): Promise<BenchServer & AsyncDisposable> {
  const home = makeHome('volley-bench-');
  const lease = await leaseEmbeddedServer(home, settings === 'disposable' ? throwAwayOptions : {});
  await grantTestRights(lease.address);
  const status = embeddedServerStatus(home);
  return {
    url: urlOfServer(lease.address),
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

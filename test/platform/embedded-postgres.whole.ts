import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  embeddedServerStatus,
  leaseEmbeddedServer,
  stopEmbeddedServer,
} from '../../src/platform/embedded-postgres.ts';
import { endServer, makeHome, removeHome } from '../support/embedded-home.ts';
import { type LeaseHolder, spawnHolder, startHolder } from '../support/lease-holder.ts';
import { killServer } from '../support/own-postgres.ts';
import { superuserUrl } from '../support/server-rights.ts';
import { runStatement } from '../support/statement.ts';

// Shared by tests that need no empty home, because initdb takes most of the time.
const home = makeHome('volley-test-home-');
afterEach(async () => {
  await endServer(home);
});
afterAll(() => removeHome(home));

describe('sharing an embedded server', () => {
  // The first test, because the shared home must be empty.
  test('processes that start together in an empty home share one server, and the last one stops it', async () => {
    const holders = [startHolder(home), startHolder(home), startHolder(home)] as const;
    const [one, other, last] = await Promise.all(holders);
    expect([one.server.pid, other.server.pid]).toEqual([last.server.pid, last.server.pid]);
    expect(embeddedServerStatus(home).leases).toHaveLength(3);

    await Promise.all([one.end('release'), other.end('release')]);
    expect(one.child.exitCode).toBe(0);
    expect(await query(last, 'SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
    await last.end('release');
    expect(embeddedServerStatus(home)).toMatchObject({ state: 'stopped', leases: [] });
  });

  test('a process can hold several leases, and a second release of one changes nothing', async () => {
    const one = await leaseEmbeddedServer(home);
    const other = await leaseEmbeddedServer(home);

    await one.release();
    await one.release();
    expect(embeddedServerStatus(home)).toMatchObject({ state: 'running', leases: [process.pid] });

    await other.release();
    expect(embeddedServerStatus(home)).toMatchObject({ state: 'stopped', leases: [] });
  });

  test('a server in use is not stopped, and the error names the process that uses it', async () => {
    const holder = await startHolder(home);
    await expect(stopEmbeddedServer(home)).rejects.toThrow(`is in use by process ${holder.child.pid}.`);
    expect(await query(holder, 'SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
    await holder.end('release');
    expect(await stopEmbeddedServer(home)).toBe(false);
  });

  test('a process with the reused pid of a former user is not listed as a user', async () => {
    writeFileSync(join(home, 'users.lock'), `${process.ppid}\n${process.ppid}.1\n`);
    const lease = await leaseEmbeddedServer(home);
    expect(embeddedServerStatus(home).leases).toEqual([process.pid]);
    await lease.release();
  });

  test('a released lease starts no server, and a release waits for a restart in progress', async () => {
    const onEnded = () => {
      throw new Error('this lease is released');
    };
    const one = await leaseEmbeddedServer(home);
    const other = await leaseEmbeddedServer(home);
    await killServer(home);
    const restarting = one.restartIfEnded(() => {});
    // Wait until the restart has begun.
    while (!isStarting(home)) await sleep(1);
    await Promise.all([restarting, one.release(), other.release()]);
    expect(embeddedServerStatus(home).state).toBe('stopped');
    await one.restartIfEnded(onEnded);
    expect(embeddedServerStatus(home).state).toBe('stopped');
  });

  test('if files cannot be locked, the error says so and names the missing program', async () => {
    vi.stubEnv('PATH', '/nowhere');
    const said =
      /files cannot be locked \(.*flock: not found\)\. Install the program flock \(package util-linux\)/;
    try {
      await expect(leaseEmbeddedServer(home)).rejects.toThrow(said);
      expect(() => embeddedServerStatus(home)).toThrow(said);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('a process that ends without a release', () => {
  test.each(['exit', 'throw', 'SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'causes a stop of the server if it was the last user: %s',
    async (how) => {
      const holder = await startHolder(home);
      await holder.end(how);
      expect(holder.child.signalCode).toBe(how.startsWith('SIG') ? how : null);
      await stopped(home);
      expect(serversOf(home)).toEqual([]);
    },
  );

  test('does not stop a server that others use, or that is leased while it stops', async () => {
    const killed = await startHolder(home);
    const other = await startHolder(home);
    await killed.end('SIGKILL');
    await sleep(300);
    expect(await query(other, 'SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
    await other.end('SIGKILL');
    const next = await startHolder(home);
    expect(await query(next, 'SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
    await next.end('release');
    expect(embeddedServerStatus(home)).toMatchObject({ state: 'stopped', leases: [] });
  });

  test('leaves the server to the next user if the waiting shell was killed too', async () => {
    const killed = await startHolder(home);
    for (const pid of stoppersOf(home)) process.kill(pid, 'SIGKILL');
    await killed.end('SIGKILL');
    await sleep(300);
    expect(embeddedServerStatus(home)).toMatchObject({ state: 'running', leases: [] });
    const next = await startHolder(home);
    expect(next.server.pid).toBe(killed.server.pid);
    await next.end('release');
    expect(embeddedServerStatus(home).state).toBe('stopped');
  });

  test('does not stop a server in use when the waiting shell is killed', async () => {
    const holder = await startHolder(home);
    const waiting = stoppersOf(home).flatMap((stopper) =>
      readOrNothing(`/proc/${stopper}/task/${stopper}/children`).split(' ').filter(Boolean).map(Number),
    );
    expect(waiting).toHaveLength(1);
    for (const pid of waiting) process.kill(pid, 'SIGKILL');
    await sleep(1_500);
    expect(embeddedServerStatus(home)).toMatchObject({ state: 'running', pid: holder.server.pid });
    await holder.end('release');
    expect(embeddedServerStatus(home).state).toBe('stopped');
  });

  // More moments: test/torture/first-start.torture.ts.
  test.each([
    ['initdb works', 'initdb --'],
    ['role and database are made', 'postgres --single -D'],
  ])('causes no harm when it is killed while %s in the first start', async (_, program) => {
    const home = await killFirstStartWhile(program);
    const next = await startHolder(home);
    expect(await query(next, 'SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
    await next.end('release');
    expect(readdirSync(join(home, 'data')).filter((name) => name === 'new')).toEqual([]);
  });
});

describe('an embedded server', () => {
  test('is restarted by the next lease after a kill, and keeps its data', async () => {
    const before = await startHolder(home);
    await query(before, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS number');
    const session = new Client(before.server.address);
    await session.connect();
    session.on('error', () => {});
    process.kill(before.server.pid, 'SIGKILL');
    await before.end('release');

    const after = await startHolder(home);
    expect(after.server.pid).not.toBe(before.server.pid);
    expect(await query(after, 'SELECT count(*)::int AS rows FROM kept')).toEqual([{ rows: 1000 }]);
    await after.end('release');
  });

  test('is restarted once after a kill for all processes that use it', async () => {
    const leases = [await leaseEmbeddedServer(home), await leaseEmbeddedServer(home)];
    const restarts: string[] = [];
    const restartAll = () =>
      Promise.all(leases.map(({ restartIfEnded }) => restartIfEnded(() => restarts.push('restart'))));
    await restartAll();
    expect(restarts).toEqual([]);
    await killServer(home);
    await restartAll();
    expect(restarts).toHaveLength(2);
    const server = embeddedServerStatus(home);
    expect(server.state).toBe('running');
    await restartAll();
    expect(embeddedServerStatus(home)).toEqual(server);
    for (const { release } of leases) await release();
    expect(embeddedServerStatus(home).state).toBe('stopped');
  });

  test('starts although another program has the pid in its old postmaster.pid', async () => {
    const before = await startHolder(home);
    await before.end('release');
    const { dataFolder } = before.server;
    const stale = [process.pid, dataFolder, '', '1', '', '', '', 'ready', ''].join('\n');
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
      writeFileSync(join(dataFolder, 'pg', name), stale, { mode: 0o644 });
    expect(embeddedServerStatus(home).state).toBe('stopped');

    const after = await startHolder(home);
    expect(await query(after, 'SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
    await after.end('release');
  });

  test('is reachable although the path of its home is too long for a socket', async () => {
    const deep = join(makeFreshHome(), 'x'.repeat(120));
    onTestFinished(() => removeHome(deep));
    const lease = await leaseEmbeddedServer(deep);
    const client = new Client({ ...lease.address });
    await client.connect();
    expect((await client.query('SELECT 1 AS answer')).rows).toEqual([{ answer: 1 }]);
    await client.end();
    await lease.release();
  });

  test('is separate from the server of a copy of its home, which contains all commits', async () => {
    const holder = await startHolder(home);
    await query(holder, 'CREATE TABLE copied AS SELECT 1 AS answer');
    const copy = makeFreshHome();
    execFileSync('cp', ['-a', `${home}/.`, copy]);
    const other = await startHolder(copy);
    expect(other.server.pid).not.toBe(holder.server.pid);
    expect(await query(other, 'SELECT answer FROM copied')).toEqual([{ answer: 1 }]);
    await other.end('release');
    expect(await query(holder, 'SELECT answer FROM copied')).toEqual([{ answer: 1 }]);
    await holder.end('release');
  });

  test('runs in its own session without root rights, and has its data in the home', async () => {
    const holder = await startHolder(home);
    const afterName = readFileSync(`/proc/${holder.server.pid}/stat`, 'utf8').split(') ')[1] ?? '';
    const [, , processGroup, session] = afterName.split(' ').map(Number);
    expect([processGroup, session]).toEqual([holder.server.pid, holder.server.pid]);
    // Root's server runs as another user. Its data is in the home if that user can enter it.
    expect(statSync(`/proc/${holder.server.pid}`).uid).not.toBe(0);
    expect(holder.server.dataFolder).toBe(join(home, 'data'));
    await holder.end('release');
  });

  test('listens only in a folder that its user can enter, uses UTC and syncs to disk', async () => {
    const holder = await startHolder(home);
    const settings = await runStatement(
      superuserUrl(holder.server.address),
      `SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
              current_setting('fsync') AS fsync, current_setting('TimeZone') AS zone,
              current_setting('server_encoding') AS encoding, lower('ÄÖ') AS lower`,
    );
    const expected = {
      addresses: '',
      sockets: '.',
      fsync: 'on',
      zone: 'UTC',
      encoding: 'UTF8',
      lower: 'äö',
    };
    expect(settings).toEqual([expected]);
    const { dataFolder, pid } = holder.server;
    expect(statSync(join(dataFolder, 'pg'))).toMatchObject({
      mode: 0o40700,
      uid: statSync(`/proc/${pid}`).uid,
    });
    await holder.end('release');
  });
});

test('the role of Volley has no rights beyond its own database', async () => {
  const lease = await leaseEmbeddedServer(home);
  const client = new Client({ ...lease.address });
  await client.connect();
  try {
    const { rows } = await client.query(
      'SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user',
    );
    expect(rows).toEqual([
      {
        rolsuper: false,
        rolcreatedb: false,
        rolcreaterole: false,
        rolreplication: false,
        rolbypassrls: false,
      },
    ]);
    await expect(client.query(`COPY (SELECT 1) TO PROGRAM 'true'`)).rejects.toThrow('permission denied');
    await expect(client.query(`SELECT pg_read_file('/etc/passwd')`)).rejects.toThrow('permission denied');
    await client.query('CREATE TABLE own ()');
  } finally {
    await client.end();
    await lease.release();
  }
});

/**
 * Returns the home of a process that was killed while this program worked for it. A busy machine may need
 * several attempts.
 */
async function killFirstStartWhile(program: string): Promise<string> {
  for (;;) {
    const home = makeFreshHome();
    const killed = spawnHolder(home);
    const works = (): boolean =>
      descendantsOf(killed.pid ?? 0).some((pid) =>
        readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').includes(program),
      );
    let isSeen = false;
    while (!isSeen && embeddedServerStatus(home).state === 'stopped') {
      await sleep(1);
      isSeen = works();
    }
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    if (isSeen) return home;
  }
}

function descendantsOf(pid: number): number[] {
  const children = readOrNothing(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Resolves when the server and everything that could stop it have ended. */
async function stopped(home: string): Promise<void> {
  while (embeddedServerStatus(home).state === 'running' || stoppersOf(home).length > 0) await sleep(20);
}

/** Shells that wait for the last user of a home's server. */
function stoppersOf(home: string): number[] {
  return processesOf((words) => words.startsWith('/bin/sh') && words.includes(`${home}/data `));
}

function serversOf(home: string): number[] {
  return processesOf((words) => words.includes(`postgres -D ${home}/data/pg `));
}

function processesOf(isOne: (words: string) => boolean): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => isOne(readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')));
}

function isStarting(home: string): boolean {
  return processesOf((words) => words.includes(`${home}/data `)).length > 0;
}

function makeFreshHome(): string {
  const fresh = makeHome('volley-test-home-');
  onTestFinished(() => removeHome(fresh));
  return fresh;
}

async function query(holder: LeaseHolder, statement: string): Promise<unknown[]> {
  const client = new Client(holder.server.address);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows;
  } finally {
    await client.end();
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

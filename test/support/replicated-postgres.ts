import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openLedger } from '../../src/ledger/connection.ts';
import { isConnectionFailure } from '../../src/platform/database-failures.ts';
import { chooseServerUser, postgresPrograms } from '../../src/platform/server-user.ts';
import { freePort } from './free-port.ts';
import { killPostmaster } from './kill-postmaster.ts';
import { type Listening, listening } from './listening.ts';
import { runStatement } from './statement.ts';

export type Replication = 'synchronous' | 'asynchronous';

/** A primary behind an address, and its streaming standby. */
export type ReplicatedPostgres = AsyncDisposable & {
  /** A ledger's database, at first on the primary. */
  readonly url: string;
  /** The same database on the standby. */
  readonly standbyUrl: string;
  /** Stops the stream to the standby. */
  readonly stallReplication: () => void;
  /** Kills the primary. The address answers again only after `moveAddress`. */
  readonly killPrimary: () => Promise<void>;
  readonly killStandby: () => Promise<void>;
  readonly startStandby: () => Promise<void>;
  readonly promote: () => Promise<void>;
  /** Points the address to the former standby. */
  readonly moveAddress: () => void;
};

/** Data folders with a ledger, for making pairs of servers. */
export type ReplicatedOrigin = Disposable & {
  readonly startPair: (replication: Replication) => Promise<ReplicatedPostgres>;
};

const database = 'ledger';
const userName = 'postgres';

const settings = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  'max_connections = 60',
  "timezone = 'UTC'",
  // Reports replay quickly.
  "wal_receiver_status_interval = '100ms'",
  // Of a standby: a query that holds up the replay is cancelled soon.
  "max_standby_streaming_delay = '200ms'",
];

/** @param programs folder of `postgres` and `initdb`; by default, of the embedded server */
export async function makeReplicatedOrigin(programs?: string): Promise<ReplicatedOrigin> {
  const home = mkdtempSync(join(tmpdir(), 'volley-test-replicated-'));
  chmodSync(home, 0o711);
  const work = join(home, 'work');
  const user = chooseServerUser(work);
  mkdirSync(work, { mode: 0o700 });
  const own = { ...user, cwd: '/' };
  const folder = programs ?? dirname((await postgresPrograms(user, work)).postgres);
  if (user.uid !== undefined) execFileSync('chown', [`${user.uid}:${user.gid}`, work]);

  const run = (program: string, words: readonly string[]) =>
    promisify(execFile)(join(folder, program), words, own);
  const start = (data: string, port: number): ChildProcess =>
    spawn(join(folder, 'postgres'), ['-D', data, '-p', String(port)], { ...own, stdio: 'ignore' });

  const origin = join(work, 'origin');
  const initOptions = ['--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  await run('initdb', [`--pgdata=${origin}`, `--username=${userName}`, ...initOptions]);
  appendFileSync(join(origin, 'postgresql.conf'), `${settings.join('\n')}\n`);
  await makeLedger(async (port) => start(origin, port));

  let pairs = 0;
  return {
    startPair: async (replication) => {
      pairs++;
      const [primary, standby] = [join(work, `primary-${pairs}`), join(work, `standby-${pairs}`)];
      // Both begin where the origin was stopped.
      for (const data of [primary, standby]) execFileSync('cp', ['-a', origin, data]);
      const [port, standbyPort] = [await freePort(), await freePort()];
      const [replicating, address] = [await startTcpLink(port), await startTcpLink(port)];
      const servers = [start(primary, port)];
      await waitUntilReady(urlAt(port));
      const stream = `host=127.0.0.1 port=${replicating.port} user=${userName} application_name=standby`;
      appendFileSync(join(standby, 'postgresql.conf'), `primary_conninfo = '${stream}'\n`);
      writeFileSync(join(standby, 'standby.signal'), '');
      servers.push(start(standby, standbyPort));
      await waitUntilReady(urlAt(standbyPort));
      await waitUntilStreaming(port, replication);
      let primaryRuns = true;
      const killPrimary = async (): Promise<void> => {
        primaryRuns = false;
        await killPostmaster(servers[0]?.pid ?? 0);
        replicating.stop();
      };
      let standbyRuns = true;
      const killStandby = async (): Promise<void> => {
        standbyRuns = false;
        await killPostmaster(servers.at(-1)?.pid ?? 0);
      };
      return {
        url: urlAt(address.port, database),
        standbyUrl: urlAt(standbyPort, database),
        stallReplication: replicating.stall,
        killPrimary,
        killStandby,
        async startStandby() {
          servers.push(start(standby, standbyPort));
          standbyRuns = true;
          await waitUntilReady(urlAt(standbyPort));
        },
        promote: async () => void (await runStatement(urlAt(standbyPort), 'SELECT pg_promote()')),
        moveAddress: () => address.moveTo(standbyPort),
        async [Symbol.asyncDispose]() {
          if (primaryRuns) await killPrimary();
          if (standbyRuns) await killStandby();
          address.stop();
          for (const data of [primary, standby]) rmSync(data, { recursive: true, force: true });
        },
      };
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

function urlAt(port: number, name = 'postgres'): string {
  return `postgres://${userName}@127.0.0.1:${port}/${name}`;
}

async function makeLedger(start: (port: number) => Promise<ChildProcess>): Promise<void> {
  const port = await freePort();
  const server = await start(port);
  await waitUntilReady(urlAt(port));
  await runStatement(urlAt(port), `CREATE DATABASE ${database}`);
  await (await openLedger({ connectionString: urlAt(port, database) }, 'replicated')).close();
  const exited = new Promise((resolve) => server.once('exit', resolve));
  // Like `pg_ctl stop -m fast`.
  server.kill('SIGINT');
  await exited;
}

async function waitUntilReady(url: string): Promise<void> {
  for (;;) {
    try {
      await runStatement(url, 'SELECT');
      return;
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      await sleep(20);
    }
  }
}

/** Resolves when the standby has caught up and, if synchronous, commits wait for it. */
async function waitUntilStreaming(port: number, replication: Replication): Promise<void> {
  const isThere = async (condition: string): Promise<void> => {
    const sql = `SELECT FROM pg_stat_replication WHERE application_name = 'standby' AND ${condition}`;
    while ((await runStatement(urlAt(port), sql)).length === 0) await sleep(20);
  };
  await isThere(`state = 'streaming' AND replay_lsn = pg_current_wal_lsn()`);
  if (replication === 'asynchronous') return;
  await runStatement(urlAt(port), `ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
  await runStatement(urlAt(port), 'SELECT pg_reload_conf()');
  await isThere(`sync_state = 'sync'`);
}
/** A local address that forwards to a changeable port. */
type TcpLink = Listening & {
  /** Holds all data in both directions until the connections close. */
  readonly stall: () => void;
  /** Closes connections; new ones go to this port. */
  readonly moveTo: (port: number) => void;
};

async function startTcpLink(port: number): Promise<TcpLink> {
  let target = port;
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const disconnect = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', disconnect);
      socket.on('close', disconnect);
    }
    client.pipe(upstream).pipe(client);
  });
  const listener = await listening(server);
  return {
    ...listener,
    stall() {
      for (const [client, upstream] of pairs) {
        client.unpipe();
        upstream.unpipe();
      }
    },
    moveTo(next) {
      target = next;
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
  };
}

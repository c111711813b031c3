import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openLedger } from '../../src/ledger/connection.ts';
import { isConnectionFailure } from '../../src/platform/database-failures.ts';
import { chooseServerUser } from '../../src/platform/server-user.ts';
import { freePort } from '../support/free-port.ts';
import { killPostmaster } from '../support/kill-postmaster.ts';
import { type Listening, listening } from '../support/listening.ts';
import { runStatement } from '../support/statement.ts';

export type Replication = 'synchronous' | 'asynchronous';

/** A primary and its streaming standby behind one address. */
export type ReplicatedPostgres = AsyncDisposable & {
  /** A ledger's database, at first on the primary. */
  readonly url: string;
  /** Stops the stream to the standby. */
  readonly stallReplication: () => void;
  /** Kills the primary. The address answers again only after `moveAddress`. */
  readonly killPrimary: () => Promise<void>;
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
];

/** @param programs folder of `postgres`, `initdb`, `pg_ctl` and `pg_basebackup` */
export async function makeReplicatedOrigin(programs: string): Promise<ReplicatedOrigin> {
  const home = mkdtempSync(join(tmpdir(), 'volley-test-replicated-'));
  chmodSync(home, 0o711);
  const work = join(home, 'work');
  const user = chooseServerUser(work);
  mkdirSync(work, { mode: 0o700 });
  const own = { ...user, cwd: '/' };
  if (user.uid !== undefined) execFileSync('chown', [`${user.uid}:${user.gid}`, work]);

  const run = (program: string, words: readonly string[]) =>
    promisify(execFile)(join(programs, program), words, own);
  const start = (data: string, port: number): ChildProcess =>
    spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port)], { ...own, stdio: 'ignore' });

  const origin = join(work, 'origin');
  const initOptions = ['--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  await run('initdb', [`--pgdata=${origin}`, `--username=${userName}`, ...initOptions]);
  appendFileSync(join(origin, 'postgresql.conf'), `${settings.join('\n')}\n`);
  await makeLedger(async (port) => start(origin, port));

  let pairs = 0;
  return {
    startPair: async (replication) => {
      pairs++;
      const folder = (name: string): string => join(work, `${name}-${pairs}`);
      const [primary, standby] = [folder('primary'), folder('standby')];
      execFileSync('cp', ['-a', origin, primary]);
      const [port, standbyPort] = [await freePort(), await freePort()];
      const [replicating, address] = [await startTcpLink(port), await startTcpLink(port)];
      const servers = [start(primary, port)];
      await waitUntilReady(urlAt(port));
      await run('pg_basebackup', backupOptions(replicating.port, standby));
      servers.push(start(standby, standbyPort));
      await waitUntilStreaming(port, replication);
      let primaryRuns = true;
      const killPrimary = async (): Promise<void> => {
        primaryRuns = false;
        await killPostmaster(servers[0]?.pid ?? 0);
        replicating.stop();
      };
      return {
        url: urlAt(address.port, database),
        stallReplication: replicating.stall,
        killPrimary,
        promote: async () => void (await run('pg_ctl', ['promote', '-D', standby, '-w', '-t', '60'])),
        moveAddress: () => address.moveTo(standbyPort),
        async [Symbol.asyncDispose]() {
          if (primaryRuns) await killPrimary();
          await killPostmaster(servers[1]?.pid ?? 0);
          address.stop();
          for (const data of [primary, standby]) rmSync(data, { recursive: true, force: true });
        },
      };
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

function backupOptions(port: number, standby: string): readonly string[] {
  const connection = `host=127.0.0.1 port=${port} user=${userName} application_name=standby`;
  return [
    `--dbname=${connection}`,
    `--pgdata=${standby}`,
    '--write-recovery-conf',
    '--wal-method=stream',
    '--checkpoint=fast',
    '--no-sync',
  ];
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

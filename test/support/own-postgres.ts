import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionFailure } from '../../src/platform/database.ts';
import {
  type EmbeddedServerLease,
  embeddedServerStatus,
  leaseEmbeddedServer,
  stopEmbeddedServer,
} from '../../src/platform/embedded-postgres.ts';
import { isZombie } from '../../src/platform/process-identity.ts';
import { makeHome, removeAbandonedHomes, removeHome } from './embedded-home.ts';
import { runStatement } from './statement.ts';

const prefix = 'volley-test-own-';

/** A durable Postgres of the test's own, which may be killed and come back with the same port and data. */
export type OwnPostgres = AsyncDisposable & {
  /** A new, empty database; its address. */
  readonly createDatabase: () => Promise<string>;
  /** SIGKILL for all its processes, as when the machine loses power; returns when they are gone. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** As an operator does it: sessions are told. */
  readonly stop: () => Promise<void>;
  /** Resolves when it takes connections again, after what it does by itself. */
  readonly isReady: () => Promise<void>;
  /** SIGKILL for one session, if there is any; Postgres then ends all others, and recovers without being started again. */
  readonly killSession: () => Promise<void>;
  /** SIGSTOP and SIGCONT for all its processes: connections stand, and nothing answers. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

export async function startOwnPostgres(): Promise<OwnPostgres> {
  await removeAbandonedHomes(prefix);
  const home = makeHome(prefix);
  const leases: EmbeddedServerLease[] = [await leaseEmbeddedServer(home)];
  const { host, port, user, password } = leases[0]?.address ?? {};
  const urlOf = (database: string): string => `postgres://${user}:${password}@${host}:${port}/${database}`;
  let databases = 0;
  let frozen: readonly number[] = [];
  const thaw = (): void => {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
    frozen = [];
  };
  const isReady = async (): Promise<void> => {
    for (;;) {
      try {
        await runStatement(urlOf('postgres'), 'SELECT');
        return;
      } catch (error) {
        if (!isConnectionFailure(error)) throw error;
        await sleep(20);
      }
    }
  };
  return {
    async createDatabase() {
      databases++;
      const name = `own_${databases}`;
      await runStatement(urlOf('postgres'), `CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    kill: () => killServer(home),
    async start() {
      const lease = await leaseEmbeddedServer(home);
      leases.push(lease);
      if (lease.address.port !== port)
        throw new Error(`the server has another port now: ${lease.address.port}`);
    },
    async stop() {
      // Told to stop while it recovers, it may never end (Postgres 18.4).
      await isReady();
      await stopEmbeddedServer(home, { evenIfInUse: true });
    },
    isReady,
    async killSession() {
      await isReady();
      const sessions = await runStatement(
        urlOf('postgres'),
        `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
      );
      for (const { pid } of sessions) process.kill(Number(pid), 'SIGKILL');
    },
    freeze() {
      frozen = serverProcesses(home);
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    },
    thaw,
    async [Symbol.asyncDispose]() {
      thaw();
      if (embeddedServerStatus(home).state === 'running') await killServer(home);
      for (const lease of leases) await lease.release();
      await removeHome(home);
    },
  };
}

/** Kills every process of the embedded server in a home; returns when they are gone. */
export async function killServer(home: string): Promise<void> {
  const all = serverProcesses(home);
  // Stopped first: no more children come, and none is missed.
  for (const pid of all.slice(0, 1)) process.kill(pid, 'SIGSTOP');
  const pids = new Set([...all, ...serverProcesses(home)]);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  while ([...pids].some(isThere)) await sleep(5);
}

/** The postmaster, then its children. */
function serverProcesses(home: string): readonly number[] {
  const status = embeddedServerStatus(home);
  if (status.state !== 'running') throw new Error('the server does not run');
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const children = pairs.filter(([, parent]) => parent === status.pid).flatMap(([pid]) => pid ?? []);
  return [status.pid, ...children];
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !isZombie(pid);
  } catch {
    return false;
  }
}

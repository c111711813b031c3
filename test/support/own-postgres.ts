import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { inject } from 'vitest';
import { isConnectionFailure } from '../../src/platform/database-failures.ts';
import {
  type EmbeddedServerLease,
  embeddedServerStatus,
  leaseEmbeddedServer,
} from '../../src/platform/embedded-postgres.ts';
import { copyHome, endServer, makeHome, removeHome } from './embedded-home.ts';
import { killPostmaster, stopPostmaster } from './kill-postmaster.ts';
import { grantTestRights, urlOfServer } from './server-rights.ts';
import { runStatement } from './statement.ts';

const prefix = 'volley-test-own-';

/** A durable Postgres server, which a test may kill and restart with its data. */
export type OwnPostgres = AsyncDisposable & {
  /** Returns the URL of a new database. */
  readonly createDatabase: () => Promise<string>;
  /** Kills all processes, like a power cut, and waits until they have ended. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** A normal shutdown, which informs sessions. */
  readonly stop: () => Promise<void>;
  /** Resolves when it accepts connections again, for example after recovery. */
  readonly isReady: () => Promise<void>;
  /** Kills one session; Postgres then ends all others, and recovers by itself. */
  readonly killSession: () => Promise<void>;
  /** Stops or continues all processes: connections stay open without answers. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const home = makeHome(prefix);
  copyHome(inject('initialHome'), home);
  const first = await leaseEmbeddedServer(home);
  const leases: EmbeddedServerLease[] = [first];
  await grantTestRights(first.address);
  const urlOf = (database: string): string => `${urlOfServer(first.address)}/${database}`;
  let databases = 0;
  let stopped: readonly number[] = [];
  const thaw = (): void => {
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
    stopped = [];
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
      leases.push(await leaseEmbeddedServer(home));
    },
    async stop() {
      // A server that is stopped during recovery may never end (Postgres 18.4).
      await isReady();
      await endServer(home);
    },
    isReady,
    async killSession() {
      await isReady();
      const [victim, witness] = [new Client(urlOf('postgres')), new Client(urlOf('postgres'))];
      const ended = new Promise((resolve) => witness.once('end', resolve));
      for (const client of [victim, witness]) {
        client.on('error', () => {});
        await client.connect();
      }
      const { rows } = await victim.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      for (const { pid } of rows) process.kill(pid, 'SIGKILL');
      await ended;
    },
    freeze() {
      stopped = stopPostmaster(postmasterOf(home));
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
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

/** Kills the embedded server of a home, and waits until it has ended. */
export async function killServer(home: string): Promise<void> {
  await killPostmaster(postmasterOf(home));
}

function postmasterOf(home: string): number {
  const status = embeddedServerStatus(home);
  if (status.state !== 'running') throw new Error('the server does not run');
  return status.pid;
}

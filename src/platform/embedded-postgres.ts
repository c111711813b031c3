import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { importBinaries, reachableBinaries } from './postgres-binaries.ts';
import { releaseAtExit } from './release-at-exit.ts';
import { ensureData, readLogin } from './server-data.ts';
import { createHome, dataFolderOf, messageOf, type ServerFiles, serverFiles } from './server-files.ts';
import { addLease, dropLease, giveBackLock, type Lease, leaseHolders, takeLock } from './server-lease.ts';
import { findServer, startServer, stopServer } from './server-process.ts';
import { chooseServerUser } from './server-user.ts';
import { inSteps, inStepsAtExit, type Steps } from './steps.ts';

export type EmbeddedServerOptions = {
  /** False for a server whose data nobody will miss: faster, and lost with the power. */
  readonly durable?: boolean;
  /** Where root's data and programs go if the server's user cannot reach the home or the clone. */
  readonly systemFolder?: string;
};

/** Where the server listens, and how to log in. */
export type ServerAddress = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

export type EmbeddedServerLease = {
  readonly address: ServerAddress;
  readonly home: string;
  /**
   * Starts the server again at its address, should it be gone; whoever comes first does it for all.
   *
   * @param onGone called before that
   * @throws InputError that names the log, when it cannot be started there
   */
  readonly revive: (onGone: () => void) => Promise<void>;
  /** Gives the lease up, and stops the server if it was the last. Doing it again does nothing. */
  release(): Promise<void>;
};

export type EmbeddedServerStatus = {
  readonly home: string;
  readonly dataFolder: string;
  /** Whether there is a ledger's data at all. */
  readonly exists: boolean;
  readonly logFile: string;
  /** The numbers of the processes that use the server, one for each lease. */
  readonly leases: readonly number[];
} & (
  | { readonly state: 'stopped' }
  | { readonly state: 'running'; readonly pid: number; readonly port: number }
);

/**
 * The embedded server of a home, started if it does not run and created if it does not exist. The rule for its start and
 * its stop is in docs/decisions/002-embedded-server.md.
 *
 * @throws InputError, naming the log, when there is no server for this machine or it cannot be started
 */
export async function leaseEmbeddedServer(
  home: string,
  { durable = true, systemFolder = '/var/lib/volley' }: EmbeddedServerOptions = {},
): Promise<EmbeddedServerLease> {
  const files = createHome(home);
  try {
    const own = addLease(files.leases);
    const forget = releaseAtExit(() => inStepsAtExit(leave(files, own, { atExit: true })));
    let released: Promise<void> | undefined;
    const release = (): Promise<void> => {
      released ??= inSteps(leave(files, own)).then(forget);
      return released;
    };
    try {
      const packaged = await importBinaries();
      function* enter(onlyPort?: number): Steps<ServerAddress> {
        yield* takeLock(files.leases, own);
        try {
          const user = chooseServerUser(dataFolderOf(files));
          const binaries = reachableBinaries(packaged, user, systemFolder);
          const setting = { log: files.log, user, binaries, durable };
          const data = yield* ensureData(setting, files, systemFolder);
          const login = readLogin(files);
          return { host: '127.0.0.1', port: yield* startServer(setting, data, onlyPort), ...login };
        } finally {
          giveBackLock(files.leases, own);
        }
      }
      const address = await inSteps(enter());
      const revive = async (onGone: () => void): Promise<void> => {
        if (findServer(dataFolderOf(files))?.port === address.port) return;
        onGone();
        await inSteps(enter(address.port)).catch((cause: unknown) => {
          throw failed('is gone and could not be started again', cause, files);
        });
      };
      return { address, home: files.home, revive, release };
    } catch (error) {
      // The first error says more than a second one about stopping.
      await release().catch(forget);
      throw error;
    }
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw failed(
      'could not be used',
      cause,
      files,
      '. To use a Postgres server of your own, set DATABASE_URL.',
    );
  }
}

/** What there is of a server, without touching it. */
export function embeddedServerStatus(home: string): EmbeddedServerStatus {
  const files = serverFiles(existsSync(home) ? realpathSync(home) : resolve(home));
  const dataFolder = dataFolderOf(files);
  const server = findServer(dataFolder);
  // Data that is recorded and gone is an error of its own, when the server is to be started.
  const exists = existsSync(dataFolder) || existsSync(files.dataRecord);
  const leases = leaseHolders(files.leases);
  const found = { home: files.home, dataFolder, exists, logFile: files.log, leases };
  if (server === undefined) return { ...found, state: 'stopped' };
  return { ...found, state: 'running', pid: server.pid, port: server.port };
}

/** Stops a server. One that is in use is left alone, and the answer names the processes, unless `evenIfInUse`. */
export async function stopEmbeddedServer(
  home: string,
  { evenIfInUse = false }: { readonly evenIfInUse?: boolean } = {},
): Promise<
  | { readonly outcome: 'stopped' | 'not-running' }
  | { readonly outcome: 'in-use'; readonly leases: readonly number[] }
> {
  if (embeddedServerStatus(home).state === 'stopped') return { outcome: 'not-running' };
  const files = createHome(home);
  const leases = await inSteps(leave(files, addLease(files.leases), { evenIfInUse }));
  return leases.length > 0 && !evenIfInUse ? { outcome: 'in-use', leases } : { outcome: 'stopped' };
}

/** Gives a lease up, and stops the server if it was the last. @returns the processes that hold others */
function* leave(
  files: ServerFiles,
  own: Lease,
  { atExit = false, evenIfInUse = false } = {},
): Steps<readonly number[]> {
  try {
    yield* takeLock(files.leases, own, atExit);
    const others = leaseHolders(files.leases, own);
    if (others.length === 0 || evenIfInUse) yield* stopServer(dataFolderOf(files), files.log);
    return others;
  } finally {
    dropLease(files.leases, own);
  }
}

function failed(what: string, cause: unknown, { log }: ServerFiles, advice = ''): InputError {
  const whole = `${what}: ${messageOf(cause)}. Its log is ${log}${advice}`;
  return new InputError([{ where: 'embedded Postgres', what: whole }], { cause });
}

import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { withLock, withLockAtExit } from './file-lock.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { releaseAtExit } from './release-at-exit.ts';
import { type DataOptions, ensureData, readPassword } from './server-data.ts';
import { ensureDatabase, type ServerAddress } from './server-database.ts';
import { createHome, dataFolderOf, messageOf, type ServerFiles, serverFiles } from './server-files.ts';
import { addLease, dropDeadLeases, dropLease, type LeaseFile, leaseHolders } from './server-lease.ts';
import { findServer, stopServer, stopServerAtExit } from './server-process.ts';
import { ensureServer } from './server-start.ts';
import { chooseServerUser } from './server-user.ts';

export type EmbeddedServerOptions = {
  /** False for a server whose data nobody will miss: faster, and lost with the power. */
  readonly durable?: boolean;
  /** Where root's data and programs go if the server's user cannot reach the home or the clone. */
  readonly systemFolder?: string;
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

/** `leases` are the numbers of the processes that use the server, one for each lease. */
export type EmbeddedServerStatus = {
  readonly home: string;
  readonly dataFolder: string;
  /** Whether there is a ledger's data at all. */
  readonly exists: boolean;
  readonly logFile: string;
  readonly leases: readonly number[];
} & (
  | { readonly state: 'stopped' }
  | { readonly state: 'running'; readonly pid: number; readonly port: number }
);

/**
 * The embedded server of a home, shared with every other process that holds a lease, started if it does not run and
 * created if it does not exist. Should this process end without releasing, the lease is given up on the way out; if
 * it is killed, its lease counts no more, and the next process adopts the server and stops it when it leaves last.
 * Throws InputError, naming the log, when there is no server for this machine or it cannot be started.
 */
export async function leaseEmbeddedServer(
  home: string,
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServerLease> {
  const files = createHome(home);
  try {
    return await withLock(files.lock, () => lease(files, options));
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    const what = `could not be used: ${messageOf(cause)}. Its log is ${files.log}. To use a Postgres server of your own, set DATABASE_URL.`;
    throw new InputError([{ where: 'embedded Postgres', what }], { cause });
  }
}

async function reviveServer(
  options: DataOptions,
  data: string,
  port: number,
  onGone: () => void,
): Promise<void> {
  const { files } = options;
  if (findServer(data)?.port === port) return;
  onGone();
  try {
    await withLock(files.lock, () => ensureServer(options, data, port));
  } catch (cause) {
    const what = `is gone and could not be started again: ${messageOf(cause)}. Its log is ${files.log}`;
    throw new InputError([{ where: 'embedded Postgres', what }], { cause });
  }
}

/** What there is of a server, without touching it. */
export function embeddedServerStatus(home: string): EmbeddedServerStatus {
  const files = serverFiles(existsSync(home) ? realpathSync(home) : resolve(home));
  const dataFolder = dataFolderOf(files);
  const server = findServer(dataFolder);
  // Data that is recorded and gone is an error of its own, when the server is to be started.
  const exists = existsSync(dataFolder) || existsSync(files.dataRecord);
  const found = { home: files.home, dataFolder, exists, logFile: files.log, leases: leaseHolders(files) };
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
  return withLock(files.lock, async () => {
    const leases = leaseHolders(files);
    if (leases.length > 0 && !evenIfInUse) return { outcome: 'in-use', leases };
    const wasRunning = findServer(dataFolderOf(files)) !== undefined;
    await stopServer(dataFolderOf(files), files.log);
    return { outcome: wasRunning ? 'stopped' : 'not-running' };
  });
}

async function lease(files: ServerFiles, options: EmbeddedServerOptions): Promise<EmbeddedServerLease> {
  const { durable = true, systemFolder = '/var/lib/volley' } = options;
  dropDeadLeases(files);
  const own = addLease(files);
  const forget = releaseAtExit(() => withLockAtExit(files.lock, () => leaveAtExit(files, own)));
  try {
    const user = chooseServerUser(dataFolderOf(files));
    const binaries = await findPostgresBinaries(user, systemFolder);
    const serverOptions = { files, user, binaries, systemFolder, durable };
    const data = await ensureData(serverOptions);
    const { port } = await ensureServer(serverOptions, data);
    const address = await ensureDatabase(port, (of) => readPassword(files, of));
    const releaseOnce = once(() => withLock(files.lock, () => leave(files, own)).then(forget));
    const revive = (onGone: () => void): Promise<void> => reviveServer(serverOptions, data, port, onGone);
    return { address, home: files.home, revive, release: releaseOnce };
  } catch (error) {
    // The first error says more than a second one about stopping.
    await leave(files, own).catch(() => {});
    forget();
    throw error;
  }
}

async function leave(files: ServerFiles, own: LeaseFile): Promise<void> {
  dropLease(own);
  if (leaseHolders(files).length === 0) await stopServer(dataFolderOf(files), files.log);
}

function leaveAtExit(files: ServerFiles, own: LeaseFile): void {
  dropLease(own);
  if (leaseHolders(files).length === 0) stopServerAtExit(dataFolderOf(files), files.log);
}

function once<Result>(action: () => Result): () => Result {
  let done: { readonly result: Result } | undefined;
  return () => {
    done ??= { result: action() };
    return done.result;
  };
}

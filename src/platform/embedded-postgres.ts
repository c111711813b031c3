import {
  appendFileSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  realpathSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../domain/problems.ts';
import { hasCode } from './file-error.ts';
import { answersSignals } from './process-identity.ts';
import { createHome, messageOf, readText, type ServerFiles, serverFiles } from './server-files.ts';
import { isLocked, type LockFile, openLock, runScript, scriptWords } from './server-locks.ts';
import {
  longestStart,
  longestStop,
  readServer,
  role,
  type ServerProcess,
  startServer,
  stopScript,
} from './server-process.ts';
import { chooseServerUser, makeDataFolder, postgresPrograms } from './server-user.ts';

export type EmbeddedServerOptions = {
  /** Words that the server is started with besides its own, such as `-c`, `fsync=off` for one whose data nobody will miss. */
  readonly words?: readonly string[];
  /** Where root's data and programs go if the server's user cannot reach the home or the clone. */
  readonly systemFolder?: string;
};

/** The folder of the server's socket, and how to log in: only who can enter the folder can, so no password is asked for. */
export type ServerAddress = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
};

export type EmbeddedServerLease = {
  readonly address: ServerAddress;
  readonly home: string;
  /**
   * Starts the server again, should it be gone; the first command that comes does it for all.
   *
   * @param onGone called before that
   * @throws InputError that names the log, when it cannot be started
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
  readonly leases: readonly number[];
} & ({ readonly state: 'stopped' } | ({ readonly state: 'running' } & Pick<ServerProcess, 'pid'>));

/** How long the locks are waited for: longer than the longest thing done with one of them (seconds). */
const longest = longestStart + longestStop;

/**
 * Shares the users' lock (3), which waits until a server is stopped that is being stopped; takes that of a start (4); and that of the
 * data (5), which ends with 1 where there is a server.
 */
const enterScript = `lock ${longest} s <&3 && lock ${longest} x <&4 || exit 2
lock 0 x <&5`;

/**
 * Takes the users' lock (3) alone, and stops the server (`stopScript`); ends with 3 where others use it. Where not another user but what
 * stops the server has the lock, that gives it back.
 */
const leaveScript = `lock 0 x <&3 || { lock ${longest} s <&3; lock 0 x <&3 || exit 3; }
${stopScript}`;

/**
 * The embedded server of a home, started if it does not run and created if it does not exist. The rule for its start and
 * its stop is in docs/decisions/002-embedded-server.md.
 *
 * @throws InputError, naming the log, when there is no server for this machine or it cannot be started
 */
export async function leaseEmbeddedServer(
  home: string,
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServerLease> {
  const files = createHome(home);
  try {
    const users = openLock(files.users);
    let released: Promise<unknown> | undefined;
    const release = async (): Promise<void> => {
      released ??= leave(files, users);
      await released;
    };
    try {
      const data = await ensureServer(files, users, options);
      appendFileSync(users, `${process.pid}\n`);
      const address = { host: reachable(data), port: 5432, user: role, database: role };
      const revive = async (onGone: () => void): Promise<void> => {
        if (findServer(files) !== undefined) return;
        onGone();
        await ensureServer(files, users, options).catch((cause: unknown) => {
          throw failed('is gone and could not be started again', cause, files);
        });
      };
      return { address, home: files.home, revive, release };
    } catch (error) {
      // The first error says more than a second one about stopping.
      await release().catch(() => undefined);
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
  const { data, log, users } = files;
  const dataFolder = existsSync(data) ? realpathSync(data) : data;
  const found = { home: files.home, dataFolder, exists: embeddedDataExist(files.home), logFile: log };
  const server = findServer(files);
  if (server === undefined) return { ...found, leases: [], state: 'stopped' };
  const numbers = new Set((readText(users) ?? '').split('\n').filter(Boolean).map(Number));
  const leases = [...numbers].filter(answersSignals);
  return { ...found, leases, state: 'running', pid: server.pid };
}

/** Whether a home has data, or a folder for them that another user has closed. */
export function embeddedDataExist(home: string): boolean {
  try {
    return readdirSync(serverFiles(home).data).includes('pg');
  } catch (error) {
    return hasCode(error, 'EACCES');
  }
}

/** Stops a server. One that is in use is left alone, and the answer names the processes. */
export async function stopEmbeddedServer(
  home: string,
): Promise<
  | { readonly outcome: 'stopped' | 'not-running' }
  | { readonly outcome: 'in-use'; readonly leases: readonly number[] }
> {
  const { state, leases } = embeddedServerStatus(home);
  if (state === 'stopped') return { outcome: 'not-running' };
  const files = createHome(home);
  return (await leave(files, openLock(files.users))) ? { outcome: 'stopped' } : { outcome: 'in-use', leases };
}

/** Returns the data folder of the server, which is started unless it runs; the users' lock is shared from then on. */
async function ensureServer(
  files: ServerFiles,
  users: LockFile,
  { words = [], systemFolder = '/var/lib/volley' }: EmbeddedServerOptions,
): Promise<string> {
  const user = chooseServerUser(files.data);
  if (!existsSync(files.data)) makeDataFolder(files, user, systemFolder);
  const data = realpathSync(files.data);
  const paths = [files.start, join(data, 'lock'), files.users, join(data, 'lock')];
  const opened = paths.map(openLock);
  const [start = -1, lock = -1, ...views] = opened;
  try {
    for (const deadline = Date.now() + longestStart * 1000; ; await sleep(10)) {
      const code = await runScript(scriptWords(enterScript), [users, start, lock]);
      if (code === 0) break;
      if (code === 1 && readServer(data)?.isReady) return data;
      if (code !== 1 || Date.now() > deadline)
        throw new Error(`another process has ${paths.join(' or ')} for too long; \`fuser\` names it`);
    }
    const programs = await postgresPrograms(user, systemFolder);
    await startServer(data, { log: files.log, user, programs, locks: [lock, ...views], words });
    return data;
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Gives up what is had of the users' lock, and stops the server if nobody else uses it. @returns whether it is stopped */
async function leave(files: ServerFiles, users: LockFile): Promise<boolean> {
  const view = existsSync(files.data) ? openLock(join(files.data, 'lock')) : undefined;
  try {
    if (view === undefined) return true;
    const code = await runScript(scriptWords(leaveScript, files.data), [users, users, view]);
    if (code === 1) throw new Error(`The embedded Postgres has not stopped. Its log is ${files.log}.`);
    if (code === 0) ftruncateSync(users);
    return code === 0;
  } finally {
    if (view !== undefined) closeSync(view);
    closeSync(users);
  }
}

/** A folder by a name that is short enough for a socket (104 bytes on macOS); on Linux there always is one, while it is open. */
function reachable(data: string): string {
  const folder = join(data, 'pg');
  const isShort = Buffer.byteLength(folder) < 104 - '/.s.PGSQL.5432'.length;
  return isShort ? folder : `/proc/self/fd/${openSync(folder, 'r')}`;
}

function findServer({ data }: ServerFiles): ServerProcess | undefined {
  return isLocked(join(data, 'lock')) ? readServer(data) : undefined;
}

function failed(what: string, cause: unknown, { log }: ServerFiles, advice = ''): InputError {
  const whole = `${what}: ${messageOf(cause)}. Its log is ${log}${advice}`;
  return new InputError([{ where: 'embedded Postgres', what: whole }], { cause });
}

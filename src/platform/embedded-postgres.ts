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
import { errorMessage, hasCode } from './file-error.ts';
import { isProcessRunning, ownProcessToken } from './process-identity.ts';
import { createHome, readText, type ServerFiles, serverFiles } from './server-files.ts';
import { isLocked, type LockFile, openLock, runScript, scriptArguments } from './server-locks.ts';
import {
  acceptsConnections,
  maxStartSeconds,
  maxStopSeconds,
  readServer,
  type ServerProcess,
  startServer,
  stopScript,
  volleyRole,
} from './server-process.ts';
import { chooseServerUser, makeDataFolder, postgresPrograms } from './server-user.ts';

export type EmbeddedServerOptions = {
  /** Faster, for data that is deleted soon: a power failure may lose it. */
  readonly disposable?: boolean;
  /** Where root keeps data and programs if the server's user cannot reach the home or the clone. */
  readonly systemFolder?: string;
};

/** Needs no password: only permitted users can enter the folder of the socket. */
export type ServerAddress = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
};

export type EmbeddedServerLease = Awaited<ReturnType<typeof leaseEmbeddedServer>>;

export type EmbeddedServerStatus = {
  readonly home: string;
  readonly dataFolder: string;
  readonly logFile: string;
  /** Processes that use the server; those in other containers are not included. */
  readonly leases: readonly number[];
} & ({ readonly state: 'stopped' } | ({ readonly state: 'running' } & Pick<ServerProcess, 'pid'>));

/** Longer than any lock is held for (seconds). */
const lockTimeoutSeconds = maxStartSeconds + maxStopSeconds;

/**
 * Shares the users' lock (3), once a stopping server has stopped. Takes the start lock (4) and the data lock
 * (5). Ends with 1 if a server holds the data lock.
 */
const enterScript = `lock ${lockTimeoutSeconds} s <&3 && lock ${lockTimeoutSeconds} x <&4 || exit 2
lock 0 x <&5`;

/**
 * Takes the users' lock (3) exclusively, and stops the server. Ends with 3 if other processes use the server.
 * Waits if a stopping shell holds the lock.
 */
const leaveScript = `lock 0 x <&3 || { lock ${lockTimeoutSeconds} s <&3; lock 0 x <&3 || exit 3; }
${stopScript}`;

/** Another folder than that of docs/deploy/volley.service, which no other user may enter. */
const defaultSystemFolder = '/var/lib/volley-postgres';

/**
 * Leases the embedded server of a home, and creates or starts it if necessary. See
 * docs/decisions/002-embedded-server.md.
 *
 * @throws InputError that names the log, if no server is available for this machine or it cannot be started
 */
export async function leaseEmbeddedServer(
  home: string,
  { disposable = false, systemFolder = defaultSystemFolder }: EmbeddedServerOptions = {},
) {
  const files = createHome(home);
  try {
    const users = openLock(files.users);
    let restarting: Promise<unknown> = Promise.resolve();
    let released: Promise<unknown> | undefined;
    /** Gives up the lease, and stops the server if this was the last one. Can be called again. */
    const release = async (): Promise<void> => {
      released ??= restarting.then(() => leaveServer(files, users));
      await released;
    };
    try {
      const data = makeDataFolder(files, systemFolder);
      const host = shortSocketFolder(data);
      const ensure = (): Promise<void> =>
        ensureServer(files, users, { data, host, disposable, systemFolder });
      await ensure();
      appendFileSync(users, `${ownProcessToken()}\n`);
      /**
       * Restarts the server if it ended. One process restarts it for all.
       *
       * @param onEnded called before the restart
       * @throws InputError that names the log, if the server cannot be started
       */
      const restartIfEnded = async (onEnded: () => void): Promise<void> => {
        if ((await acceptsConnections(host)) || released) return;
        onEnded();
        const restarted = restarting.then(ensure);
        restarting = restarted.catch(() => undefined);
        await restarted.catch((cause: unknown) => {
          throw serverError('has ended and could not be restarted', cause, files);
        });
      };
      return {
        address: { host, port: 5432, user: volleyRole, database: volleyRole } satisfies ServerAddress,
        home: files.home,
        restartIfEnded,
        release,
      };
    } catch (error) {
      // Report the first error, not one from stopping.
      await release().catch(() => undefined);
      throw error;
    }
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw serverError(
      'could not be used',
      cause,
      files,
      '. To use a Postgres server of your own, set DATABASE_URL.',
    );
  }
}

export function embeddedServerStatus(home: string): EmbeddedServerStatus {
  const files = serverFiles(existsSync(home) ? realpathSync(home) : resolve(home));
  const { data, log, users } = files;
  const dataFolder = existsSync(data) ? realpathSync(data) : data;
  const found = { home: files.home, dataFolder, logFile: log };
  const server = isLocked(join(data, 'lock')) ? readServer(join(data, 'pg')) : undefined;
  if (server === undefined) return { ...found, leases: [], state: 'stopped' };
  const running = new Set((readText(users) ?? '').split('\n').filter(isProcessRunning));
  const leases = [...running].map((token) => Number.parseInt(token, 10));
  return { ...found, leases, state: 'running', pid: server.pid };
}

/** Returns true also for a data folder that another user made inaccessible. */
export function hasEmbeddedData(home: string): boolean {
  try {
    return readdirSync(serverFiles(home).data).includes('pg');
  } catch (error) {
    return hasCode(error, 'EACCES');
  }
}

/**
 * @returns whether a server was running
 * @throws InputError if the server is in use (names the processes) or cannot be stopped
 */
export async function stopEmbeddedServer(home: string): Promise<boolean> {
  const { state, leases } = embeddedServerStatus(home);
  if (state === 'stopped') return false;
  const files = createHome(home);
  const code = await leaveServer(files, openLock(files.users));
  if (code === 0) return true;
  const users = leases.length > 0 ? `process ${leases.join(', ')}` : 'another container';
  const what =
    code === 3
      ? `is in use by ${users}. Stop it first.`
      : 'runs in another container, or was just killed. Stop it there, or try again.';
  throw new InputError([{ where: 'embedded Postgres', what }]);
}

type Server = Required<EmbeddedServerOptions> & { readonly data: string; readonly host: string };

/** Starts the server if it is not running. From then on this process shares the users' lock. */
async function ensureServer(
  files: ServerFiles,
  users: LockFile,
  { data, host, disposable, systemFolder }: Server,
): Promise<void> {
  const paths = [files.start, join(data, 'lock'), files.users, join(data, 'lock')];
  const opened = paths.map(openLock);
  const [start = -1, lock = -1, ...views] = opened;
  try {
    for (const deadline = Date.now() + maxStartSeconds * 1000; ; await sleep(10)) {
      const code = await runScript(scriptArguments(enterScript), [users, start, lock]);
      if (code === 0) break;
      if (code === 1 && (await acceptsConnections(host))) return;
      if (code === 1 && Date.now() < deadline) continue;
      const held = code === 1 ? join(data, 'lock') : `${files.users} or ${files.start}`;
      throw new Error(`another process has ${held} for too long. Find it with \`fuser\` and end it`);
    }
    const user = chooseServerUser(data);
    const programs = await postgresPrograms(user, systemFolder);
    await startServer(data, { log: files.log, user, programs, locks: [lock, ...views], disposable });
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/**
 * Gives up the users' lock. The last user stops the server, as the server's user, whose file identifies the
 * process. In another container, the waiting shell stops it.
 *
 * @returns 0 if the server stopped, else the exit code of `leaveScript`
 */
async function leaveServer(files: ServerFiles, users: LockFile): Promise<number> {
  const opened = [users];
  try {
    if (!existsSync(files.data)) return 0;
    // The server's user may lack access to the home.
    const data = realpathSync(files.data);
    const view = openLock(join(data, 'lock'));
    opened.push(view);
    const user = chooseServerUser(data);
    const code = await runScript(scriptArguments(leaveScript, data), [users, users, view], user);
    if (code === 1) throw new Error(`it still runs after ${maxStopSeconds} s`);
    if (code === 0) ftruncateSync(users);
    return code;
  } catch (cause) {
    throw serverError('could not be stopped', cause, files);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** A path short enough for a socket (104 bytes on macOS). On Linux, `/proc/self/fd` provides one. */
function shortSocketFolder(data: string): string {
  const folder = join(data, 'pg');
  const isShort = Buffer.byteLength(folder) < 104 - '/.s.PGSQL.5432'.length;
  return isShort ? folder : `/proc/self/fd/${openSync(data, 'r')}/pg`;
}

function serverError(what: string, cause: unknown, { log }: ServerFiles, advice = ''): InputError {
  const whole = `${what}: ${errorMessage(cause)}. Its log is ${log}${advice}`;
  return new InputError([{ where: 'embedded Postgres', what: whole }], { cause });
}

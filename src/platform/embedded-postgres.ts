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
import { isProcessRunning, ownProcessToken } from './process-identity.ts';
import { createHome, errorMessage, readText, type ServerFiles, serverFiles } from './server-files.ts';
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
  /** Words that the server is started with besides its own, such as `-c`, `fsync=off` for one whose data nobody will miss. */
  readonly postgresOptions?: readonly string[];
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
  readonly restartIfEnded: (onGone: () => void) => Promise<void>;
  /** Gives the lease up, and stops the server if it was the last. Doing it again does nothing. */
  release(): Promise<void>;
};

export type EmbeddedServerStatus = {
  readonly home: string;
  readonly dataFolder: string;
  readonly logFile: string;
  /** The numbers of the processes that use the server, but for those in other containers. */
  readonly leases: readonly number[];
} & ({ readonly state: 'stopped' } | ({ readonly state: 'running' } & Pick<ServerProcess, 'pid'>));

/** How long the locks are waited for: longer than the longest thing done with one of them (seconds). */
const lockTimeoutSeconds = maxStartSeconds + maxStopSeconds;

/**
 * Shares the users' lock (3), which waits until a server is stopped that is being stopped; takes that of a start (4); and that of the
 * data (5), which ends with 1 where there is a server.
 */
const enterScript = `lock ${lockTimeoutSeconds} s <&3 && lock ${lockTimeoutSeconds} x <&4 || exit 2
lock 0 x <&5`;

/**
 * Takes the users' lock (3) alone, and stops the server (`stopScript`); ends with 3 where others use it. Where not another user but what
 * stops the server has the lock, that gives it back.
 */
const leaveScript = `lock 0 x <&3 || { lock ${lockTimeoutSeconds} s <&3; lock 0 x <&3 || exit 3; }
${stopScript}`;

/**
 * The embedded server of a home, started if it does not run and created if it does not exist. The rule for its start and
 * its stop is in docs/decisions/002-embedded-server.md.
 *
 * @throws InputError, naming the log, when there is no server for this machine or it cannot be started
 */
export async function leaseEmbeddedServer(
  home: string,
  { postgresOptions = [], systemFolder = '/var/lib/volley' }: EmbeddedServerOptions = {},
): Promise<EmbeddedServerLease> {
  const files = createHome(home);
  try {
    const users = openLock(files.users);
    let restarting: Promise<unknown> = Promise.resolve();
    let released: Promise<unknown> | undefined;
    const release = async (): Promise<void> => {
      released ??= restarting.then(() => leaveServer(files, users));
      await released;
    };
    try {
      const data = makeDataFolder(files, systemFolder);
      const host = shortSocketFolder(data);
      const ensure = (): Promise<void> =>
        ensureServer(files, users, { data, host, postgresOptions, systemFolder });
      await ensure();
      appendFileSync(users, `${ownProcessToken()}\n`);
      const restartIfEnded = async (onGone: () => void): Promise<void> => {
        if ((await acceptsConnections(host)) || released) return;
        onGone();
        const restarted = restarting.then(ensure);
        restarting = restarted.catch(() => undefined);
        await restarted.catch((cause: unknown) => {
          throw serverError('is gone and could not be started again', cause, files);
        });
      };
      return {
        address: { host, port: 5432, user: volleyRole, database: volleyRole },
        home: files.home,
        restartIfEnded,
        release,
      };
    } catch (error) {
      // The first error says more than a second one about stopping.
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

/** What there is of a server, without touching it. */
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

/** Whether a home has data, or a folder for them that another user has closed. */
export function embeddedDataExist(home: string): boolean {
  try {
    return readdirSync(serverFiles(home).data).includes('pg');
  } catch (error) {
    return hasCode(error, 'EACCES');
  }
}

/**
 * Stops a server.
 *
 * @returns whether there was one
 * @throws InputError when it is in use, which names the processes, or cannot be stopped
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
      ? `is in use by ${users}; stop that first.`
      : 'runs in another container, or was just killed. Stop it there, or try again.';
  throw new InputError([{ where: 'embedded Postgres', what }]);
}

type Server = Required<EmbeddedServerOptions> & { readonly data: string; readonly host: string };

/** Starts the server unless it runs; the users' lock is shared from then on. */
async function ensureServer(
  files: ServerFiles,
  users: LockFile,
  { data, host, postgresOptions, systemFolder }: Server,
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
      throw new Error(`another process has ${held} for too long; \`fuser\` names it, and it has to be ended`);
    }
    const user = chooseServerUser(data);
    const programs = await postgresPrograms(user, systemFolder);
    await startServer(data, { log: files.log, user, programs, locks: [lock, ...views], postgresOptions });
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/**
 * Gives up what is had of the users' lock, and stops the server if nobody else uses it. As the server's user: what that user has
 * written says which process it is. One in another container is stopped there, by the shell that waits for the lock.
 *
 * @returns 0: it is stopped; otherwise what `leaveScript` ends with
 */
async function leaveServer(files: ServerFiles, users: LockFile): Promise<number> {
  const opened = [users];
  try {
    if (!existsSync(files.data)) return 0;
    // The server's user may not be able to pass through the home.
    const data = realpathSync(files.data);
    const view = openLock(join(data, 'lock'));
    opened.push(view);
    const user = chooseServerUser(data);
    const code = await runScript(scriptArguments(leaveScript, data), [users, users, view], user);
    if (code === 1) throw new Error(`it runs on after ${maxStopSeconds} s`);
    if (code === 0) ftruncateSync(users);
    return code;
  } catch (cause) {
    throw serverError('could not be stopped', cause, files);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** A folder by a name that is short enough for a socket (104 bytes on macOS); on Linux there always is one, while it is open. */
function shortSocketFolder(data: string): string {
  const folder = join(data, 'pg');
  const isShort = Buffer.byteLength(folder) < 104 - '/.s.PGSQL.5432'.length;
  return isShort ? folder : `/proc/self/fd/${openSync(data, 'r')}/pg`;
}

function serverError(what: string, cause: unknown, { log }: ServerFiles, advice = ''): InputError {
  const whole = `${what}: ${errorMessage(cause)}. Its log is ${log}${advice}`;
  return new InputError([{ where: 'embedded Postgres', what: whole }], { cause });
}

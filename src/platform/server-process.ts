import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from './file-error.ts';
import { readText } from './server-files.ts';
import { type LockFile, openLock, scriptArguments } from './server-locks.ts';
import type { PostgresPrograms, ServerUser } from './server-user.ts';

/** Volley's role. Its rights end at its database of the same name. */
export const volleyRole = 'volley';

/**
 * No port: the socket is in the data folder, which only its user and root can enter, so no password is needed.
 * The last two settings keep statements, and so addresses, out of the log.
 */
const settings = [
  'listen_addresses=',
  'unix_socket_directories=.',
  'port=5432',
  // For several commands, each with a pool.
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  'log_error_verbosity=terse',
  'log_min_error_statement=panic',
].flatMap((setting) => ['-c', setting]);

const disposableSettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'].flatMap(
  (setting) => ['-c', setting],
);

/** Replaying 1 GB of write-ahead log takes about 20 s on a slow disk (seconds). */
export const maxStartSeconds = 120;
/** The server first writes its memory to disk, at most some hundred megabytes (seconds). */
export const maxStopSeconds = 60;
const maxLogBytes = 4_000_000;

/** Hides our environment from Postgres, especially credentials and libpq settings. */
const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Stops the server of the folder `$0`, and waits for the data lock (file 5). SIGINT is Postgres' "fast
 * shutdown". Sent during crash recovery, it may have no effect (18.4); then SIGQUIT ends the server, and the
 * next start recovers commits. A starting server has no postmaster.pid yet. Signals only a process that works
 * in the data folder: a pid from another container may be a different process here. Ends with 4 in that case,
 * and with 1 if the server did not stop.
 */
export const stopScript = `
attempts=0
until lock $((attempts > 0)) x <&5; do
  attempts=$((attempts + 1))
  [ $attempts -gt ${maxStopSeconds + 10} ] && exit 1
  [ $attempts -gt ${maxStopSeconds} ] && signal=QUIT || signal=INT
  read -r pid <"$0/pg/postmaster.pid" || continue
  case $pid in '' | 1 | 0* | *[!0-9]*) continue ;; esac
  if [ ! -d /proc/self ] || [ "/proc/$pid/cwd" -ef "$0/pg" ]; then
    kill -s $signal "$pid" || :
  elif [ $attempts -gt 1 ]; then
    exit 4
  fi
done`;

/**
 * Creates missing data of the folder `$0`; a killed command leaves nothing that looks like data. Starts a shell
 * that waits until all commands have released the users' lock (file 4), and then stops the server. Then becomes
 * the server. Postgres programs hold the data lock (3) while they work. Single-user mode creates the database,
 * because it accepts no connections. The builtin locale sorts equally on every machine.
 */
const startScript = `
set -e
postgres=$1 initdb=$2 sync=$3
shift 3
if [ ! -d "$0/pg" ]; then
  rm -rf "$0/new"
  "$initdb" --username=postgres --auth-local=trust --auth-host=reject --encoding=UTF8 \\
    --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --pgdata="$0/new" $sync
  "$postgres" --single -D "$0/new" -c exit_on_error=on postgres <<'SQL'
CREATE ROLE ${volleyRole} LOGIN
CREATE DATABASE ${volleyRole} OWNER ${volleyRole}
SQL
  mv "$0/new" "$0/pg"
  [ "$sync" ] || sync "$0"
fi
( ( exec 3<&-; set +e; lock 999999999 x <&4 || exit 1; ${stopScript}
) >/dev/null 2>&1 & )
exec "$postgres" -D "$0/pg" "$@" 4<&- 5<&-`;

export type ServerProcess = { readonly pid: number; readonly isReady: boolean };

/** Outdated if the data lock is free, or the server was just killed. */
export function readServer(pg: string): ServerProcess | undefined {
  const [pid, , , , , , , state] = readText(join(pg, 'postmaster.pid'))?.split('\n') ?? [];
  return Number(pid) > 1 ? { pid: Number(pid), isReady: state?.trim() === 'ready' } : undefined;
}

/** Tries the socket, because the server may be in another container. */
export async function acceptsConnections(pg: string): Promise<boolean> {
  if (!readServer(pg)?.isReady) return false;
  const socket = connect(join(pg, '.s.PGSQL.5432'));
  // EAGAIN: too many clients wait already.
  const answered = once(socket, 'connect').then(
    () => true,
    (error) => hasCode(error, 'EAGAIN'),
  );
  return answered.finally(() => socket.destroy());
}

/** `locks` become files 3 and following of `startScript`. */
type ServerStart = {
  readonly log: string;
  readonly user: ServerUser;
  readonly programs: PostgresPrograms;
  readonly locks: readonly LockFile[];
  readonly disposable: boolean;
};

/**
 * Starts the server of a folder whose lock this process holds, and waits until it is ready. The server keeps
 * the lock, and Ctrl-C does not reach it.
 *
 * @throws Error that quotes the log
 */
export async function startServer(
  data: string,
  { log, user, programs, locks, disposable }: ServerStart,
): Promise<void> {
  // Left by an ended server, as the free lock proves. Postgres could mistake another process for it.
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
    rmSync(join(data, 'pg', name), { force: true });
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) renameSync(log, `${log}.1`);
  const logged = openLock(log);
  const begin = fstatSync(logged).size;
  const child = spawn(
    '/bin/sh',
    scriptArguments(
      startScript,
      data,
      programs.postgres,
      programs.initdb,
      disposable ? '--no-sync' : '',
      ...settings,
      ...(disposable ? disposableSettings : []),
    ),
    { ...user, cwd: '/', env, detached: true, stdio: ['ignore', 'ignore', logged, ...locks] },
  );
  closeSync(logged);
  child.unref();
  await once(child, 'spawn');
  for (const deadline = Date.now() + maxStartSeconds * 1000; Date.now() < deadline; await sleep(10)) {
    if (readServer(join(data, 'pg'))?.isReady) return;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(describeStartFailure(child, readFileSync(log).subarray(begin).toString('utf8')));
  }
  throw new Error(`the server was not ready after ${maxStartSeconds} s`);
}

/** Quotes the most relevant line of the log. */
function describeStartFailure({ signalCode }: ChildProcess, logged: string): string {
  if (signalCode !== null) return `it was ended by ${signalCode}`;
  const lines = logged.split('\n').filter((line) => line.trim() !== '');
  const failure =
    lines.find((line) => /\b(FATAL|PANIC|error):/i.test(line)) ?? lines.at(-1) ?? 'nothing was logged';
  const advice = /shared librar/.test(failure)
    ? ' (if npm skipped install scripts, `npm rebuild` completes it)'
    : '';
  return `${failure.replace(/^.*?\b(FATAL|PANIC|error|initdb):\s*/i, '').replace(/(?<![.\s])[.\s]+$/, '')}${advice}`;
}

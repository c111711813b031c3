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

/** The role that Volley works as, which may do what it likes in its database of the same name and nothing else. */
export const volleyRole = 'volley';

/**
 * What a server is started with. It listens on no port: its socket is in the data, which only its user and root can enter, and needs
 * no password. Without the last two, the log would hold statements and rows, and in them the addresses of people.
 */
const settings = [
  'listen_addresses=',
  'unix_socket_directories=.',
  'port=5432',
  // Several commands, each with a pool.
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  'log_error_verbosity=terse',
  'log_min_error_statement=panic',
].flatMap((setting) => ['-c', setting]);

/** A start after a crash replays at most 1 GB of write-ahead log, some 20 s on a slow disk (seconds). */
export const maxStartSeconds = 120;
/** It writes what it has in memory to disk first, which is at most some hundred megabytes (seconds). */
export const maxStopSeconds = 60;
const maxLogBytes = 4_000_000;

/** What a program of Postgres sees of our environment: nothing, above all no credentials and no settings of libpq. */
const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Stops the server of the folder `$0`, and ends when nothing has the lock of the data (file 5) any longer. SIGINT is
 * Postgres' "fast shutdown": sessions are ended, what is committed is on disk. One that was asked while it recovered from a
 * crash may never end (18.4); SIGQUIT ends that, and what is committed is recovered at the next start. One that has just
 * been started has no postmaster.pid yet. Only a process that works in the data is signalled: the number of one in another container may be
 * a stranger's here. The script ends with 4 then, and with 1 when the server has not stopped.
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
 * Makes the data of the folder `$0` where there are none (a killed command leaves nothing that looks like data), leaves a process
 * behind that waits until no command shares the users' lock (file 4), however the last of them ended, and then stops what
 * server there is by then; and becomes the server. Each program of Postgres has the lock of the data (3) as long as it works.
 * The database is made by Postgres without a server, to which nothing can connect. The builtin locale knows Unicode without any of the system,
 * and sorts the same on every machine.
 */
const startScript = `
set -e
postgres=$1 initdb=$2
shift 2
if [ ! -d "$0/pg" ]; then
  rm -rf "$0/new"
  "$initdb" --username=postgres --auth-local=trust --auth-host=reject --encoding=UTF8 \\
    --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --pgdata="$0/new"
  "$postgres" --single -D "$0/new" -c exit_on_error=on postgres <<'SQL'
CREATE ROLE ${volleyRole} LOGIN
CREATE DATABASE ${volleyRole} OWNER ${volleyRole}
SQL
  mv "$0/new" "$0/pg"
  sync "$0"
fi
( ( exec 3<&-; set +e; lock 999999999 x <&4 || exit 1; ${stopScript}
) >/dev/null 2>&1 & )
exec "$postgres" -D "$0/pg" "$@" 4<&- 5<&-`;

export type ServerProcess = { readonly pid: number; readonly isReady: boolean };

/** What a server says of itself in its folder. That is stale where nothing has the lock of the data, or the server was just killed. */
export function readServer(pg: string): ServerProcess | undefined {
  const [pid, , , , , , , state] = readText(join(pg, 'postmaster.pid'))?.split('\n') ?? [];
  return Number(pid) > 1 ? { pid: Number(pid), isReady: state?.trim() === 'ready' } : undefined;
}

/** Whether the server is ready, and there to answer: asked at its socket, for it may be in another container. */
export async function acceptsConnections(pg: string): Promise<boolean> {
  if (!readServer(pg)?.isReady) return false;
  const socket = connect(join(pg, '.s.PGSQL.5432'));
  // EAGAIN: too many wait for an answer already.
  const answered = once(socket, 'connect').then(
    () => true,
    (error) => hasCode(error, 'EAGAIN'),
  );
  return answered.finally(() => socket.destroy());
}

/** How a server is started: its log, the user, the programs, and the locks of `startScript` as files 3 and following. */
export type ServerStart = {
  readonly log: string;
  readonly user: ServerUser;
  readonly programs: PostgresPrograms;
  readonly locks: readonly LockFile[];
  readonly postgresOptions: readonly string[];
};

/**
 * Starts the server of a folder whose lock this process has alone, makes its data where there are none, and waits until it is ready. The
 * lock is the server's from then on. It is out of reach of a Ctrl-C in the terminal.
 *
 * @throws Error in the words of what failed
 */
export async function startServer(
  data: string,
  { log, user, programs, locks, postgresOptions }: ServerStart,
): Promise<void> {
  // Of a server that is gone, as the lock says; Postgres may take another program, by its number, for that one.
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
    rmSync(join(data, 'pg', name), { force: true });
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) renameSync(log, `${log}.1`);
  const logged = openLock(log);
  const begin = fstatSync(logged).size;
  const child = spawn(
    '/bin/sh',
    scriptArguments(startScript, data, programs.postgres, programs.initdb, ...settings, ...postgresOptions),
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

/** Why a program failed, in the words of the log that say it best. */
function describeStartFailure({ signalCode }: ChildProcess, logged: string): string {
  if (signalCode !== null) return `it was ended by ${signalCode}`;
  const lines = logged.split('\n').filter((line) => line.trim() !== '');
  const failure =
    lines.find((line) => /\b(FATAL|PANIC|error):/i.test(line)) ?? lines.at(-1) ?? 'nothing was logged';
  const advice = /shared librar/.test(failure)
    ? ' (if npm skipped install scripts, `npm rebuild` completes it)'
    : '';
  return `${failure.replace(/^.*?\b(FATAL|PANIC|error|initdb):\s*/i, '').replace(/[.\s]+$/, '')}${advice}`;
}

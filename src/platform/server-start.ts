import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataOptions } from './server-data.ts';
import { readText, type ServerFiles } from './server-files.ts';
import { complaintIn, readLogSince, startLogged } from './server-log.ts';
import { findServer, removeMisleadingPidFile, type ServerProcess } from './server-process.ts';

/** A start after a crash replays at most 1 GB of write-ahead log, some 20 s on a slow disk. */
const longestStart = 120_000;
const notReadyMessage = `the server was not ready after ${longestStart / 1000} s`;
const pollInterval = 10;

/**
 * Sessions of a killed server hold its memory until they notice; and a server that a killed command had just spawned
 * may only now write its postmaster.pid.
 */
const passingTrouble = /shared memory block|lock file .* already exists/;

const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  // Several commands, each with a pool.
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  // Without these, the log would hold statements and rows, and in them the addresses of people.
  'log_error_verbosity=terse',
  'log_min_error_statement=panic',
];
const throwAwaySettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * The server of a data folder, ready: the one that runs, or one started now. It runs on when this process ends.
 * To be called under the home's lock.
 *
 * @param onlyPort where whoever uses it has an address already
 * @throws Error when there is no server, or none at that port
 */
export async function ensureServer(
  options: DataOptions,
  data: string,
  onlyPort?: number,
): Promise<ServerProcess> {
  const { files } = options;
  const deadline = Date.now() + longestStart;
  let port = onlyPort ?? rememberedPort(files) ?? (await findFreePort());
  let complaint = notReadyMessage;
  while (Date.now() < deadline) {
    const running = await settle(data, deadline);
    if (running !== undefined) {
      if (onlyPort === undefined || running.port === onlyPort) return running;
      throw new Error(`it runs at port ${running.port} by now, and this command knows it at ${onlyPort}`);
    }
    removeMisleadingPidFile(data);
    const outcome = await tryStart(options, data, port, deadline);
    if (typeof outcome !== 'string') {
      writeFileSync(files.port, `${outcome.port}\n`);
      return outcome;
    }
    complaint = complaintIn(outcome);
    const isPortTaken = /could not (bind|create any TCP)/.test(outcome);
    if (isPortTaken && onlyPort !== undefined) {
      throw new Error(`another program has taken its port, ${onlyPort}`);
    }
    if (isPortTaken) port = await findFreePort();
    else if (passingTrouble.test(outcome)) await sleep(100);
    else break;
  }
  throw new Error(complaint);
}

/** Starts the server once. Returns what it logged when it ended instead of becoming ready. */
async function tryStart(
  { files, user, binaries, durable }: DataOptions,
  data: string,
  port: number,
  deadline: number,
): Promise<ServerProcess | string> {
  const chosen = durable ? settings : [...settings, ...throwAwaySettings];
  const words = ['-D', data, '-p', String(port), ...chosen.flatMap((setting) => ['-c', setting])];
  const { child, logStart } = startLogged(files.log, binaries.postgres, words, { user, detached: true });
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  child.unref();
  while (Date.now() < deadline) {
    if (failure !== undefined) throw failure;
    if (child.signalCode !== null)
      throw new Error(`the server was ended by ${child.signalCode} while it started`);
    if (child.exitCode !== null) return readLogSince(files.log, logStart);
    const server = findServer(data);
    if (server?.state === 'ready') return server;
    await sleep(pollInterval);
  }
  throw new Error(notReadyMessage);
}

/** Waits for a server that is starting to be ready, and for one that is stopping to be gone. */
async function settle(data: string, deadline: number): Promise<ServerProcess | undefined> {
  while (Date.now() < deadline) {
    const server = findServer(data);
    if (server === undefined || server.state === 'ready') return server;
    await sleep(pollInterval);
  }
  throw new Error(notReadyMessage);
}

function rememberedPort(files: ServerFiles): number | undefined {
  const port = Number(readText(files.port));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

/** A port that is free at this moment; that another program takes it before Postgres does is noticed at the start. */
async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string')
    throw new Error('this machine offers no free port on 127.0.0.1');
  return address.port;
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Kills all processes of a Postgres server, like a power cut, and waits until they have ended. */
export async function killPostmaster(postmaster: number): Promise<void> {
  const pids = stopPostmaster(postmaster);
  for (const pid of pids.toReversed()) process.kill(pid, 'SIGKILL');
  while (pids.some(isRunning)) await sleep(5);
}

/**
 * Stops the postmaster with SIGSTOP, so that it starts no more children and no pid is reused.
 *
 * @returns the postmaster and its children; kill the last first
 */
export function stopPostmaster(postmaster: number): readonly number[] {
  process.kill(postmaster, 'SIGSTOP');
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const children = pairs.filter(([, parent]) => parent === postmaster).flatMap(([pid]) => pid ?? []);
  return [postmaster, ...children];
}

/** A zombie counts as ended. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

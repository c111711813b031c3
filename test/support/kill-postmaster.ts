import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** SIGKILL for every process of a Postgres server, as when the machine loses power; returns when they are gone. */
export async function killPostmaster(postmaster: number): Promise<void> {
  const pids = stopPostmaster(postmaster);
  for (const pid of pids.toReversed()) process.kill(pid, 'SIGKILL');
  while (pids.some(isRunning)) await sleep(5);
}

/**
 * SIGSTOP for the postmaster: it begets no more children, and none of their numbers goes to another process.
 *
 * @returns the postmaster, and its children; the first to be killed comes last
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

/** A zombie, which only waits for its parent, is none. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

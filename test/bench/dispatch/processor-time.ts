import { readFileSync } from 'node:fs';

/** Seconds of processor time, which other work on the machine disturbs less than elapsed time. */
export type ProcessorTime = { readonly own: number; readonly postgres: number; readonly service: number };

/** @param postmaster process id of the Postgres server */
export async function measureWork(
  postmaster: number,
  work: () => Promise<void>,
): Promise<{ readonly seconds: number } & Omit<ProcessorTime, 'service'>> {
  const postgresBefore = postgresSeconds(postmaster);
  const before = process.cpuUsage();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { seconds, own: (user + system) / 1e6, postgres: postgresSeconds(postmaster) - postgresBefore };
}

/** Ticks of `/proc`, constant on Linux. */
const ticksPerSecond = 100;

/** Seconds used by a Postgres server and its sessions; NaN where the system does not report them. */
export function postgresSeconds(postmaster: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const sessions = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ');
  const running = sessions.map((session) => usedBy(Number(session)).own).reduce((sum, used) => sum + used, 0);
  const { own, ended } = usedBy(postmaster);
  return own + ended + running;
}

/** Seconds used by a process until now. */
export function processSeconds(pid: number): number {
  return usedBy(pid).own;
}

/** The most memory (bytes) that a process had until now; NaN where the system does not report it. */
export function peakBytes(pid: number | 'self'): number {
  if (process.platform !== 'linux') return Number.NaN;
  const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}

/** The parent counts the time of an ended process. */
function usedBy(pid: number): { readonly own: number; readonly ended: number } {
  try {
    // The command's name, in brackets, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return { own: (user + system) / ticksPerSecond, ended: (endedUser + endedSystem) / ticksPerSecond };
  } catch {
    return { own: 0, ended: 0 };
  }
}

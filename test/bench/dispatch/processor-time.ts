import { readFileSync } from 'node:fs';

/** Processor time of a peer's turn (seconds), which others on the machine disturb less than the time it took. */
export type ProcessorTime = { readonly own: number; readonly postgres: number; readonly service: number };

/** What a piece of work took; `postmaster` is the Postgres server it works with. */
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

/** Ticks of `/proc` in a second: always so on Linux. */
const ticksPerSecond = 100;

/** What a Postgres server and all its sessions have used so far (seconds); NaN where the system does not tell. */
export function postgresSeconds(postmaster: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const sessions = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ');
  const running = sessions.map((session) => usedBy(Number(session)).own).reduce((sum, used) => sum + used, 0);
  const { own, ended } = usedBy(postmaster);
  return own + ended + running;
}

/** A process that is gone has used nothing; its parent knows better. */
function usedBy(pid: number): { readonly own: number; readonly ended: number } {
  try {
    // The name of the command, in brackets, may hold anything.
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

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const holderStatus = z.object({
  pid: z.number(),
  dataFolder: z.string(),
  leases: z.array(z.number()),
  address: z.object({
    host: z.string(),
    port: z.number(),
    user: z.string(),
    database: z.string(),
  }),
});

export type LeaseHolder = {
  readonly child: ChildProcess;
  /** The status when it got its lease; `pid` is the server's. */
  readonly server: z.infer<typeof holderStatus>;
  /** Ends it by a command of hold-lease.ts or a signal. */
  end(how: 'release' | 'exit' | 'throw' | NodeJS.Signals): Promise<void>;
};

export type HolderOptions = {
  readonly systemFolder?: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly program?: string;
  readonly node?: string;
  /** A program that runs Node, with its arguments. */
  readonly under?: readonly string[];
};

const holderProgram = fileURLToPath(new URL('./hold-lease.ts', import.meta.url));

/** Does not wait for the lease. */
export function spawnHolder(home: string, options: HolderOptions = {}): ChildProcess {
  const { systemFolder, user, program = holderProgram, node = process.execPath, under = [] } = options;
  const holderArgs = [program, home, ...(systemFolder === undefined ? [] : [systemFolder])];
  const [first = node, ...args] = [...under, node, ...holderArgs];
  return spawn(first, args, { ...user, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Starts a process that uses the server of a home, and waits for its lease. */
export async function startHolder(home: string, options: HolderOptions = {}): Promise<LeaseHolder> {
  const child = spawnHolder(home, options);
  const exited = once(child, 'exit');
  let errorOutput = '';
  child.stderr?.on('data', (data) => {
    errorOutput += data;
  });
  const line = await firstLine(child);
  if (line === undefined) throw new Error(`the process got no lease:\n${errorOutput}`);
  const end: LeaseHolder['end'] = async (how) => {
    if (how === 'release' || how === 'exit' || how === 'throw') child.stdin?.end(`${how}\n`);
    else child.kill(how);
    await exited;
  };
  return { child, server: holderStatus.parse(JSON.parse(line)), end };
}

async function firstLine({ stdout }: ChildProcess): Promise<string | undefined> {
  if (stdout === null) return undefined;
  for await (const line of createInterface(stdout)) return line;
  return undefined;
}

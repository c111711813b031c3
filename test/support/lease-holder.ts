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
  /** What it saw when it had its lease; `pid` is the server's. */
  readonly server: z.infer<typeof holderStatus>;
  /** Ends it by a word of hold-lease.ts or a signal, and waits until it is gone. */
  end(how: 'release' | 'exit' | 'throw' | NodeJS.Signals): Promise<void>;
};

export type HolderOptions = {
  readonly systemFolder?: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly program?: string;
  /** The Node that runs it; that of the tests by default. */
  readonly node?: string;
  /** A program that runs Node, and words of its own before it. */
  readonly under?: readonly string[];
};

const holderProgram = fileURLToPath(new URL('./hold-lease.ts', import.meta.url));

/** Modules as they were compiled the last time, as the command line keeps its own: half of what a start costs. */
const compiled = fileURLToPath(new URL('../../node_modules/.cache/holders', import.meta.url));

/** Starts a process that uses the server of a home, without waiting for it. */
export function spawnHolder(home: string, options: HolderOptions = {}): ChildProcess {
  const { systemFolder, user, program = holderProgram, node = process.execPath, under = [] } = options;
  const holderArgs = [program, home, ...(systemFolder === undefined ? [] : [systemFolder])];
  const [first = node, ...args] = [...under, node, ...holderArgs];
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  return spawn(first, args, { ...user, env, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Starts a process that uses the server of a home, and waits until it has its lease. */
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

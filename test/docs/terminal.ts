import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** `output`: standard output and standard error, as a screen shows them. */
export type Outcome = { readonly code: number; readonly output: string };

/** A reader's terminal. */
export type Terminal = AsyncDisposable & {
  /** Types a command, and waits for its end; for a service, until it is ready. */
  readonly type: (command: string) => Promise<Outcome>;
  /** Stops the services, as Ctrl-C does. Returns those that fail. */
  readonly stopServices: () => Promise<readonly string[]>;
};

/** These run until they are stopped, so the reader types what follows into another terminal. */
const service = /^((?:\w+=\S+ )*)((?:npx --no-install )?volley (?:serve|sandbox|worker|dashboard)\b)/;
const ready = /Sandbox listens on|worker started|Dashboard: |Ctrl-C ends it/;
const millisecondsMax = 60_000;

/** One bash for all commands, so that folders and variables stay. */
export function openTerminal(folder: string, env: Readonly<Record<string, string>>): Terminal {
  const screens = mkdtempSync(join(tmpdir(), 'volley-screens-'));
  const bash = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const numbers = createInterface({ input: asReadable(bash.stdio[3]) })[Symbol.asyncIterator]();
  const services: { readonly command: string; readonly pid: number; readonly screen: string }[] = [];
  let typed = 0;

  /** Types lines of which the last prints a number to descriptor 3. */
  async function ask(lines: string): Promise<number> {
    bash.stdin?.write(`${lines}\n`);
    const { value = '' } = await numbers.next();
    if (value === '') throw new Error('the shell has ended');
    return Number(value);
  }

  const newScreen = (): string => join(screens, `${++typed}`);
  const read = (screen: string): string => (existsSync(screen) ? readFileSync(screen, 'utf8') : '');

  async function type(command: string): Promise<Outcome> {
    if (service.test(command)) return startService(command);
    const screen = newScreen();
    const tooLong = setTimeout(() => endGroup(bash.pid, 'SIGKILL'), millisecondsMax);
    try {
      const code = await ask(`eval ${quoted(command)} </dev/null >${screen} 2>&1; echo "$?" >&3`);
      return { code, output: read(screen) };
    } catch (error) {
      throw new Error(`no end within ${millisecondsMax} ms: ${command}\n${read(screen)}`, { cause: error });
    } finally {
      clearTimeout(tooLong);
    }
  }

  async function startService(command: string): Promise<Outcome> {
    const [, , kind = ''] = service.exec(command) ?? [];
    // A second one of the same kind is another way to start it, and would need the same ports.
    for (const former of services.filter((each) => each.command.includes(kind))) {
      const stopped = await stop(former);
      if (!stopped.isClean) return stopped;
    }
    const screen = newScreen();
    const alone = command.replace(service, '$1exec $2');
    const pid = await ask(`set -m; eval ${quoted(alone)} </dev/null >${screen} 2>&1 & echo "$!" >&3; set +m`);
    services.push({ command, pid, screen });
    const limit = Date.now() + millisecondsMax;
    while (!ready.test(read(screen))) {
      if (!isRunning(pid)) return { code: await ask(`wait ${pid}; echo "$?" >&3`), output: read(screen) };
      if (Date.now() > limit) return { code: -1, output: `is not ready:\n${read(screen)}` };
      await sleep(20);
    }
    return { code: 0, output: read(screen) };
  }

  /** `npx` ends with 130 where its service ends with 0. */
  async function stop({
    command,
    pid,
    screen,
  }: (typeof services)[number]): Promise<Outcome & { readonly isClean: boolean }> {
    services.splice(
      services.findIndex((each) => each.pid === pid),
      1,
    );
    endGroup(pid, 'SIGINT');
    const code = await ask(`wait ${pid}; echo "$?" >&3`);
    const output = `${command}, after it was stopped:\n${read(screen)}`;
    return { code, output, isClean: code === 0 || code === 130 };
  }

  async function stopServices(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (const each of [...services]) {
      const { code, output, isClean } = await stop(each);
      if (!isClean) failures.push(`ended with ${code}: ${output}`);
    }
    return failures;
  }

  return {
    type,
    stopServices,
    async [Symbol.asyncDispose]() {
      for (const { pid } of services) endGroup(pid, 'SIGKILL');
      bash.stdin?.end();
      if (bash.exitCode === null && bash.signalCode === null) await once(bash, 'exit');
      rmSync(screens, { recursive: true, force: true });
    },
  };
}

/** One word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid !== undefined && isRunning(pid)) process.kill(-pid, signal);
}

function asReadable(stream: unknown): Readable {
  if (stream instanceof Readable) return stream;
  throw new Error('a piped descriptor is readable');
}

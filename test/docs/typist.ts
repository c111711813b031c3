import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../support/documents.ts';
import { parseCommands, type SimpleCommand } from '../support/shell-words.ts';
import { type Ended, type Started, startInProcess, startVolley, volleyInProcess } from '../support/volley.ts';

export type Outcome = Pick<Ended, 'code' | 'stderr'>;

/** Types lines of a shell in a folder, as the documents show them. */
export type Typist = AsyncDisposable & {
  readonly env: Record<string, string>;
  /** What the typist types instead of `<run>`, or of an address whose port is not free. */
  readonly replacements: Map<string, string>;
  readonly type: (text: string) => Promise<Outcome>;
};

/**
 * Commands of `volley` alone are run in this process, other lines by bash. Services get free ports. The first service of
 * each kind keeps running; others are stopped when they listen.
 */
export function openTypist(folder: string, env: Record<string, string>): Typist {
  const running = new Map<string, Started>();
  const replacements = new Map<string, string>();

  async function type(text: string): Promise<Outcome> {
    const line = [...replacements].reduce((typed, [part, other]) => typed.replaceAll(part, other), text);
    const commands = parseCommands(line);
    const words = commands[0]?.words ?? [];
    if (words[0] === 'export') {
      Object.assign(env, Object.fromEntries(words.slice(1).map((word) => word.split('=', 2))));
      return done;
    }
    if (words[0] === 'curl') return call(folder, words.slice(1));
    if (/[|(]/.test(line) || commands.some((command) => volleyWords(command) === undefined))
      return inBash(folder, env, line);
    let last: Outcome = done;
    for (const command of commands) if (last.code === 0) last = await runVolley(command);
    return last;
  }

  async function runVolley(command: SimpleCommand): Promise<Outcome> {
    const words = (volleyWords(command) ?? []).map((word) =>
      word.replace(/\$(\w+)/g, (_, name: string) => env[name] ?? ''),
    );
    if (/^(serve|sandbox|worker)$/.test(words[0] ?? '')) return startService(words);
    const ended = await volleyInProcess(words, { cwd: folder, env: { ...env, ...command.variables } });
    for (const { operator, file } of command.redirections)
      if (operator.startsWith('>')) writeFileSync(join(folder, file), ended.stdout);
    return ended;
  }

  async function startService(words: readonly string[]): Promise<Outcome> {
    const [kind = ''] = words;
    const key = words.join(' ');
    if (running.has(key)) return done;
    const ports =
      kind === 'serve' ? ['--port', '0', '--api-port', '0'] : kind === 'sandbox' ? ['--port', '0'] : [];
    if (kind !== 'worker' && [...running.keys()].some((other) => other.startsWith(kind))) {
      const another = startInProcess([...words, ...ports], {
        cwd: folder,
        env: { ...env, LOG_LEVEL: 'silent' },
      });
      await another.waitForText(kind === 'sandbox' ? 'Sandbox listens on' : 'Delivery reports of account');
      another.stop();
      return another.ended;
    }
    const started = startVolley([...words, ...ports], { cwd: folder, env });
    await started.waitForText(kind === 'sandbox' ? 'Sandbox listens on' : 'worker started');
    running.set(key, started);
    keepAddresses(started.stderrSoFar());
    return done;
  }

  function keepAddresses(said: string): void {
    const [, sandbox] = /Sandbox listens on (http:\/\/\S+)/.exec(said) ?? [];
    const [, api] = /API: (http:\/\/[^/\s]+)/.exec(said) ?? [];
    const [, receiver] = /POST (http:\/\/[^/\s]+)/.exec(said) ?? [];
    if (sandbox !== undefined) env['VOLLEY_SANDBOX_URL'] = sandbox;
    if (api !== undefined) replacements.set('http://127.0.0.1:8027', api);
    if (receiver !== undefined) replacements.set('http://127.0.0.1:8026', receiver);
  }

  return {
    env,
    replacements,
    type,
    async [Symbol.asyncDispose]() {
      for (const { process, ended } of running.values()) {
        process.kill('SIGTERM');
        await ended;
      }
    },
  };
}

const done: Outcome = { code: 0, stderr: '' };

/** The arguments of `volley`; undefined for another program. */
function volleyWords({ words }: SimpleCommand): readonly string[] | undefined {
  if (words[0] === 'volley') return words.slice(1);
  return words.slice(0, 3).join(' ') === 'npx --no-install volley' ? words.slice(3) : undefined;
}

/** For lines with pipes and brackets. */
function inBash(cwd: string, env: Readonly<Record<string, string>>, line: string): Promise<Outcome> {
  const cli = `"${process.execPath}" "${projectFolder}/src/cli/volley.js"`;
  const script = `volley() { ${cli} "$@"; }; npx() { shift 2; volley "$@"; }; set -o pipefail\n${line}`;
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd, env }, (error, _, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stderr });
    });
  });
}

/** Does what curl would do, because not every machine has it. */
async function call(folder: string, words: readonly string[]): Promise<Outcome> {
  const after = (flag: string): string[] =>
    words.flatMap((word, index) => (words[index - 1] === flag ? [word] : []));
  const headers = after('-H').map((header): [string, string] => {
    const line = header.startsWith('@') ? readFileSync(join(folder, header.slice(1)), 'utf8').trim() : header;
    return [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)];
  });
  const [body] = after('-d');
  const answer = await fetch(words.find((word) => word.startsWith('http')) ?? '', {
    method: after('-X')[0] ?? 'GET',
    headers,
    ...(body !== undefined && { body }),
  });
  return { code: answer.ok ? 0 : answer.status, stderr: await answer.text() };
}

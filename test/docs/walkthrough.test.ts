import { execFile } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import {
  blocksOf,
  documentPaths,
  inlineCodesOf,
  type Piece,
  projectFolder,
  shellLinesOf,
} from '../support/documents.ts';
import { removeHome } from '../support/embedded-home.ts';
import { makeFreshClone } from '../support/fresh-clone.ts';
import { readJournal } from '../support/journal.ts';
import { commandsOf, type SimpleCommand } from '../support/shell-words.ts';
import { type Ended, type Started, startVolley, volleyHere } from '../support/volley.ts';
import { endsOtherwise, notRun } from './walkthrough.ts';

/** Somebody reads README and then docs/, in a fresh clone, and types what stands there: with one ledger and one service. */
let clone = '';
let release: () => Promise<void> = async () => undefined;
const token = 'f'.repeat(48);
const env: Record<string, string> = {
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  VOLLEY_AUTH_TOKEN: token,
  VOLLEY_WEBHOOK_TOKEN: token,
};
/** What goes on until it is stopped, by its words. */
const running = new Map<string, Started>();
/** What stands in the place of what a reader puts in. */
const inPlaceOf = new Map<string, string>();

const at = (path: string): string => join(clone, path);

beforeAll(async () => {
  clone = join(await mkdtemp(join(tmpdir(), 'volley-test-')), 'volley');
  makeFreshClone(clone);
  // The same server that `init` would start, but for what it flushes to disk.
  ({ release } = await leaseEmbeddedServer(at('.volley'), { durable: false }));
  const [campaign, account] = blocksOf('README.md').filter(({ language }) => language === 'yaml');
  writeFileSync(at('campaigns/first.yaml'), campaign?.text ?? '');
  appendFileSync(at('campaigns/accounts.yaml'), account?.text.replace(/^accounts:\n/, '') ?? '');
  writeFileSync(at('campaigns/payroll.csv'), 'mobile,name\n+61412345678,Ann\n');
  writeFileSync(
    at('campaigns/payroll.yaml'),
    'campaign: payroll\naccount: sandbox\nchannel: sms\ncontacts: { file: payroll.csv }\nmessage: { Message: Paid }\n',
  );
  const contacts = readFileSync(at('campaigns/contacts/au-500.csv'), 'utf8');
  writeFileSync(at('export.csv.gz'), gzipSync(contacts.split('\n').slice(0, 5).join('\n')));
  writeFileSync(at('november.csv'), 'MessageID,Recipient,Price\n');
  writeFileSync(at('november.csv.gz'), gzipSync('Our ref,Recipient,Total cost\n'));
  writeFileSync(at('opted-out.csv'), 'email\nann@example.org\n');
});

afterAll(async () => {
  for (const { process, ended } of running.values()) {
    process.kill('SIGTERM');
    await ended;
  }
  await release();
  await removeHome(at('.volley'));
  rmSync(join(clone, '..'), { recursive: true, force: true });
});

const linesOf = (path: string): Piece[] =>
  blocksOf(path)
    .filter(({ language }) => language === 'sh' || language === 'cron')
    .flatMap(shellLinesOf);

const isNotRun = ({ text }: Piece): boolean => notRun.some(([line]) => line.test(text));

function asTyped(text: string): string {
  let typed = text;
  for (const [part, other] of inPlaceOf) typed = typed.replaceAll(part, other);
  return typed;
}

/** The words of `volley`; undefined for another program. */
function volleyWords({ words }: SimpleCommand): readonly string[] | undefined {
  if (words[0] === 'volley') return words.slice(1);
  return words[0] === 'npx' && words[1] === 'volley' ? words.slice(2) : undefined;
}

type Outcome = Pick<Ended, 'code' | 'stderr'>;

async function type(text: string): Promise<Outcome> {
  const line = asTyped(text);
  const commands = commandsOf(line);
  const [first] = commands;
  if (first?.words[0] === 'export') {
    Object.assign(env, Object.fromEntries(first.words.slice(1).map((word) => word.split('=', 2))));
    return { code: 0, stderr: '' };
  }
  if (first?.words[0] === 'curl') return call(first.words.slice(1));
  const isPlain = !/[|(]/.test(line) && commands.every((command) => volleyWords(command) !== undefined);
  if (!isPlain) return inBash(line);
  let last: Outcome = { code: 0, stderr: '' };
  for (const command of commands) {
    if (last.code !== 0) break;
    last = await volleyCommand(command);
  }
  return last;
}

async function volleyCommand(command: SimpleCommand): Promise<Outcome> {
  const words = (volleyWords(command) ?? []).map((word) =>
    word.replace(/\$(\w+)/g, (_, name: string) => env[name] ?? ''),
  );
  if (/^(serve|sandbox|worker)$/.test(words[0] ?? '')) return goesOn(words);
  const ended = await volleyHere(words, { cwd: clone, env: { ...env, ...command.variables } });
  for (const { operator, file } of command.redirections)
    if (operator.startsWith('>')) writeFileSync(at(file), ended.stdout);
  return ended;
}

/** A shell, for what has pipes and brackets. */
function inBash(line: string): Promise<Outcome> {
  const cli = `"${process.execPath}" "${projectFolder}/src/cli/volley.js"`;
  const script = `volley() { ${cli} "$@"; }; npx() { shift; volley "$@"; }; set -o pipefail\n${line}`;
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd: clone, env }, (error, _, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stderr });
    });
  });
}

/** What begins to listen, at ports that are free. It goes on only where others need it. */
async function goesOn(words: readonly string[]): Promise<Outcome> {
  const key = words.join(' ');
  if (running.has(key)) return { code: 0, stderr: '' };
  const isSandbox = words[0] === 'sandbox';
  const ports = isSandbox ? ['--port', '0'] : ['--port', '0', '--api-port', '0'];
  const started = startVolley([...words, ...ports], { cwd: clone, env });
  await started.says(
    isSandbox
      ? 'Sandbox listens on'
      : words.includes('--no-worker')
        ? 'Reports of account'
        : 'worker started',
  );
  const isFirst = ![...running.keys()].some((other) => other.startsWith(words[0] ?? ''));
  if (isFirst) {
    running.set(key, started);
    noteAddresses(started.heard(), isSandbox);
    return { code: 0, stderr: '' };
  }
  started.process.kill('SIGTERM');
  return started.ended;
}

function noteAddresses(said: string, isSandbox: boolean): void {
  if (isSandbox) {
    env['VOLLEY_SANDBOX_URL'] = /http:\/\/\S+/.exec(said)?.[0] ?? '';
    return;
  }
  inPlaceOf.set('http://127.0.0.1:8027', /API: (http:\/\/[^/\s]+)/.exec(said)?.[1] ?? '');
  inPlaceOf.set('http://127.0.0.1:8026', /POST (http:\/\/[^/\s]+)/.exec(said)?.[1] ?? '');
}

/** What curl would do: not every machine has it. */
async function call(words: readonly string[]): Promise<Outcome> {
  const after = (flag: string): string[] =>
    words.flatMap((word, place) => (words[place - 1] === flag ? [word] : []));
  const headers = after('-H').map((header) =>
    header.startsWith('@') ? readFileSync(at(header.slice(1)), 'utf8').trim() : header,
  );
  const [body] = after('-d');
  const answer = await fetch(words.find((word) => word.startsWith('http')) ?? '', {
    method: after('-X')[0] ?? 'GET',
    headers: headers.map((header): [string, string] => [
      header.slice(0, header.indexOf(':')),
      header.slice(header.indexOf(':') + 2),
    ]),
    ...(body !== undefined && { body }),
  });
  return { code: answer.ok ? 0 : answer.status, stderr: await answer.text() };
}

/** What a reader does after some lines: looks at the run, mends what was left out. */
async function goOnAfter(text: string): Promise<void> {
  if (/^npx volley run /.test(text)) {
    const { stdout } = await volleyHere(['runs', '--json', '--limit', '1'], { cwd: clone, env });
    inPlaceOf.set('<run>', JSON.parse(stdout).run);
    const [request] = await readJournal(at('requests.jsonl'));
    inPlaceOf.set('<address>', request?.recipients[0] ?? '');
  }
  const [, file] = /--rejected --out (\S+)/.exec(text) ?? [];
  if (file !== undefined) mend(at(file));
}

function mend(path: string): void {
  const rows: Record<string, string>[] = parse(readFileSync(path, 'utf8'), { columns: true });
  const mended = rows.map((row, place) => ({
    ...row,
    [row['Volley Column'] ?? '']: `+614123${10_000 + place}`,
  }));
  writeFileSync(path, stringify(mended, { header: true }));
}

describe('from a fresh clone, in the order in which it is read, works as written', () => {
  test.each(documentPaths)(
    '%s',
    async (path) => {
      const wrong: unknown[] = [];
      for (const piece of linesOf(path).filter((line) => !isNotRun(line))) {
        const { code, stderr } = await type(piece.text);
        const codes = endsOtherwise.find(([line]) => line.test(piece.text))?.[1] ?? [0];
        if (!codes.includes(code ?? -1)) wrong.push({ ...piece, code, stderr });
        else await goOnAfter(piece.text);
      }
      expect(wrong).toEqual([]);
      // The pages after README take it that this goes on.
      if (path === 'README.md') await type('npx volley serve');
    },
    120_000,
  );
});

test('every exception is still of some line', () => {
  const lines = documentPaths.flatMap(linesOf);
  const idle = [...notRun, ...endsOtherwise].filter(([line]) => !lines.some(({ text }) => line.test(text)));
  expect(idle).toEqual([]);
});

test('every path of the receiver and of the sandbox that a document names is answered there', async () => {
  const receiver = inPlaceOf.get('http://127.0.0.1:8026') ?? '';
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect([path, (await fetch(receiver + path)).status]).toEqual([path, 200]);

  const sandbox = env['VOLLEY_SANDBOX_URL'] ?? '';
  const ask = async (method: string, path: string): Promise<string> => {
    const answer = await fetch(sandbox + path, { method, headers: { authorization: 'Basic any' } });
    return `${answer.status} ${await answer.text()}`;
  };
  const named = inlineCodesOf('docs/sandbox.md').flatMap(({ text }) => {
    const [, method = '', path = ''] = /^(GET|POST|PATCH) (\/\S+)$/.exec(text) ?? [];
    return path === '' ? [] : waysOf(path).map((each) => ({ method, path: each }));
  });
  expect(named.length).toBeGreaterThan(8);
  for (const { method, path } of named)
    expect([method, path, await ask(method, path)]).not.toEqual([
      method,
      path,
      await ask(method, '/api/v2.02/nowhere'),
    ]);
});

/** `/send/{email|sms}` is two paths; `{MessageID}` is any. */
function waysOf(path: string): string[] {
  const [whole, inner = ''] = /\{([^}]*)\}/.exec(path) ?? [];
  if (whole === undefined) return [path];
  const choices = inner.includes('|') ? inner.split('|') : ['a1b2c3'];
  return choices.flatMap((choice) => waysOf(path.replace(whole, choice)));
}

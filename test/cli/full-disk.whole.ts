import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { databaseShortage, isConnectionFailure } from '../../src/platform/database-failures.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import {
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
  type Workspace,
} from '../support/workspace.ts';

const ledger = useLedgerScene();

const entry = fileURLToPath(new URL('../../src/cli/volley.js', import.meta.url));

async function volleyAfter(
  setUp: string,
  words: readonly string[],
  { folder }: Workspace = ledger.workspace,
  more: Readonly<Record<string, string>> = {},
) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('sh', ['-c', setUp, process.execPath, entry, ...words], {
    cwd: folder,
    env: { PATH, HOME, DATABASE_URL: ledger.opened.url, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code, stderr };
}

test('a report that exceeds the size limit of files is not reported as a lost database, and leaves no file', async () => {
  const billing = ['billing', 'report', '--out', 'bill.csv'];
  expect(await volleyAfter('ulimit -f 0; exec "$0" "$@"', billing)).toEqual({
    code: 1,
    stderr: 'bill.csv cannot be written: the file would exceed the size limit (EFBIG).\n',
  });
  expect(await readdir(ledger.workspace.folder)).toEqual([]);
});

test.each([[['billing', 'report']], [['schema', 'campaign']], [['report', '--help']]])(
  'a full disk behind standard output is reported, with exit code 1: %o',
  async (words) => {
    expect(await volleyAfter('exec "$0" "$@" > /dev/full', words)).toEqual({
      code: 1,
      stderr: 'Standard output cannot be written: the disk is full (ENOSPC).\n',
    });
  },
);

test.each([
  ['standard output', '>', { code: 1, stderr: expect.stringContaining('Standard output cannot be written') }],
  ['log', '2>', { code: 0, stderr: '' }],
])('a run is sent completely when its %s has no room', async (_name, redirect, expected) => {
  const sandbox = await startSandbox();
  await using scene = await makeWorkspace({
    'campaigns/accounts.yaml': accountsYaml,
    'campaigns/a.yaml': smsCampaignYaml,
    'campaigns/contacts.csv': contactsCsv(3),
  });
  const env = {
    VOLLEY_SANDBOX_URL: sandbox.url,
    VOLLEY_SANDBOX_TOKEN: 't',
    VOLLEY_WEBHOOK_TOKEN: 'w'.repeat(22),
  };
  const words = ['run', 'campaigns/a.yaml', '--again'];
  const ended = await volleyAfter(`exec "$0" "$@" ${redirect} /dev/full`, words, scene, env);
  await sandbox.close();
  expect(ended).toEqual(expected);
  const { rows } = await ledger.opened.ledger.pool.query('SELECT DISTINCT state FROM request_states');
  expect(rows).toEqual([{ state: 'accepted' }]);
});

test('a process continues when its log cannot be written', async () => {
  const logger = new URL('../../src/platform/logger.ts', import.meta.url).href;
  const program = `const { openLogger } = await import('${logger}');
    openLogger('info', 'info').info('one line');`;
  const node = ['--input-type=module', '-e', program];
  const child = spawn('sh', ['-c', 'exec "$0" "$@" 2> /dev/full', process.execPath, ...node]);
  expect((await once(child, 'close'))[0]).toBe(0);
});

test('a reader that closes the pipe early is no error', async () => {
  expect(await volleyAfter('"$0" "$@" | true', ['schema', 'campaign'])).toEqual({ code: 0, stderr: '' });
});

test('Postgres without room has another error than a lost connection', async () => {
  await ledger.opened.ledger.knex.raw(`
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON suppressions FOR EACH STATEMENT EXECUTE FUNCTION full_disk()`);
  const words = ['suppress', 'add', '--channel', 'sms', '--reason', 'opted out', '+61412000001'];
  const { code, stderr } = await ledger.command(words);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^Postgres cannot continue: its disk is full \(53100\)\. What is recorded is kept\./,
    ),
  });
});

test.each([
  ['ENOSPC', 'write', false],
  ['EACCES', 'open', false],
  ['ENOENT', 'open', false],
  ['EACCES', 'connect', true],
  ['ENOENT', 'connect', true],
  ['ECONNRESET', 'read', true],
  ['EAI_AGAIN', 'getaddrinfo', true],
  ['57P01', undefined, true],
  ['53100', undefined, false],
])('whether %s of %s is a failure of the connection: %s', (code, syscall, expected) => {
  const error = Object.assign(new Error('x'), { code, syscall });
  expect(isConnectionFailure(error)).toBe(expected);
  expect(databaseShortage(error) !== undefined).toBe(code === '53100');
});

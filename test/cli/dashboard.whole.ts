import { chmod, mkdir, readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../src/engine/access/tokens.ts';
import { signIn } from '../support/dashboard-scene.ts';
import { testLedger } from '../support/test-ledger.ts';
import { type StartedInProcess, startInProcess, startVolley } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace({ 'campaigns/.keep': '' });
});
afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
});

const environment = () => ({
  DATABASE_URL: opened.url,
  VOLLEY_HOME: `${workspace.folder}/.volley`,
  LOG_LEVEL: 'silent',
});

async function start(): Promise<StartedInProcess & { readonly link: string }> {
  const started = startInProcess(['dashboard', '--no-open'], { cwd: workspace.folder, env: environment() });
  await Promise.race([started.waitForText('Ctrl-C ends it'), started.ended]);
  const link = /(http:\S+\/sign-in\/\S+)/.exec(started.stderrSoFar())?.[1];
  if (link === undefined) throw new Error(started.stderrSoFar());
  return { ...started, link };
}

const cookieOf = (answer: Response): string => answer.headers.getSetCookie()[0]?.replace(/;.*/, '') ?? '';

test('the printed address signs the person in once, and its token ends with the command', async () => {
  const { link, stop, ended } = await start();
  const first = await fetch(link);
  const headers = { cookie: cookieOf(first) };
  expect(await first.text()).toContain('http-equiv="refresh"');
  const page = await fetch(new URL('/', link), { headers });
  expect(await page.text()).toContain('<bdi>tester@here</bdi>');
  const second = await fetch(link);
  expect([second.status, cookieOf(second)]).toEqual([403, '']);
  stop();
  expect((await ended).code).toBe(0);
  const { rows } = await opened.ledger.pool.query(
    `SELECT owner, scope, revoked_at IS NOT NULL AS revoked, expires_at < now() + interval '3 minutes' AS short
     FROM tokens ORDER BY created_at DESC LIMIT 1`,
  );
  expect(rows).toEqual([{ owner: 'tester@here', scope: 'admin', revoked: true, short: true }]);
  const audit = await opened.ledger.pool.query('SELECT action, actor FROM audit ORDER BY entry DESC LIMIT 2');
  expect(audit.rows.map(({ action, actor }) => `${actor}: ${action}`)).toEqual([
    'tester@here: token revoked',
    'tester@here: token created',
  ]);
});

test('a person who has signed in with the printed address can open it again, and sees the runs; another person does not', async () => {
  const { link, stop, ended } = await start();
  const cookie = cookieOf(await fetch(link));
  const again = await fetch(link, { headers: { cookie } });
  const text = await again.text();
  expect([again.status, cookieOf(again)]).toEqual([200, '']);
  expect(text).toContain('content="0; url=/"');
  const page = await fetch(new URL('/', link), { headers: { cookie } });
  expect(await page.text()).toContain('<bdi>tester@here</bdi>');

  const token = await createToken(opened.context, {
    name: 'other',
    owner: 'bea',
    scope: 'admin',
    accounts: null,
    expiresAt: null,
  });
  const other = await signIn(new URL(link).origin, token);
  expect((await other.get(new URL(link).pathname)).status).toBe(403);
  expect((await other.get('/')).text).toContain('<bdi>bea</bdi>');
  stop();
  await ended;
});

test('a person who guesses the address, or has a part of it, is not signed in', async () => {
  const { link, stop, ended } = await start();
  const guessed = await fetch(link.replace(/.{4}$/, '0000'));
  expect([guessed.status, cookieOf(guessed)]).toEqual([403, '']);
  const part = await fetch(link.slice(0, -4));
  expect([part.status, cookieOf(part)]).toEqual([403, '']);
  expect(await part.text()).toContain('was not copied whole');
  await expect(signIn(new URL(link).origin, 'volley_guessed')).rejects.toThrow('not signed in');
  stop();
  await ended;
});

test('the browser gets a file that only the user can read, because others see the arguments of programs', async () => {
  await mkdir(`${workspace.folder}/bin`);
  const [seen, program] = [`${workspace.folder}/seen`, `${workspace.folder}/bin/xdg-open`];
  await workspace.write('bin/xdg-open', `#!/bin/sh\necho "$1" > ${seen}.new\nmv ${seen}.new ${seen}\n`);
  await chmod(program, 0o755);
  const started = startVolley(['dashboard'], {
    cwd: workspace.folder,
    env: { ...environment(), PATH: `${workspace.folder}/bin:${process.env['PATH'] ?? ''}` },
  });
  await expect.poll(() => readFile(seen, 'utf8').catch(() => ''), { timeout: 20_000 }).toContain('open.html');
  const file = (await readFile(seen, 'utf8')).trim();
  const secret = /sign-in\/(\w+)/.exec(started.stderrSoFar())?.[1] ?? 'missing';
  expect(file).not.toContain(secret);
  expect(await readFile(file, 'utf8')).toContain(`/sign-in/${secret}`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  started.process.kill('SIGINT');
  expect((await started.ended).code).toBe(0);
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('each dashboard has a name of its own, under which alone its link signs in', async () => {
  const [one, other] = [await start(), await start()];
  expect(new URL(one.link).hostname).toMatch(/^[0-9a-f]{32}\.localhost$/);
  expect(new URL(other.link).hostname).not.toBe(new URL(one.link).hostname);
  const { port, pathname } = new URL(one.link);
  const elsewhere = await fetch(`http://127.0.0.1:${port}${pathname}`);
  expect([elsewhere.status, cookieOf(elsewhere)]).toEqual([403, '']);
  expect(cookieOf(await fetch(one.link))).not.toBe('');
  for (const { stop, ended } of [one, other]) {
    stop();
    await ended;
  }
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inlineCodesOf } from '../support/documents.ts';
import { type Started, startVolley } from '../support/volley.ts';
import { accountEnvironment, accountsYaml, makeWorkspace, type Workspace } from '../support/workspace.ts';

let sandbox: Sandbox;
let database: TestDatabase;
let workspace: Workspace;
let serve: Started;
let receiver = '';

beforeAll(async () => {
  [sandbox, database, workspace] = await Promise.all([
    startSandbox({}),
    createTestDatabase(),
    makeWorkspace({ 'accounts.yaml': accountsYaml }),
  ]);
  const env = { ...accountEnvironment(database, sandbox), VOLLEY_WEBHOOK_TOKEN: 'f'.repeat(48) };
  serve = startVolley(['serve', '--port', '0', '--no-api'], { cwd: workspace.folder, env });
  await serve.waitForText('worker started');
  receiver = /POST (http:\/\/[^/\s]+)/.exec(serve.stderrSoFar())?.[1] ?? '';
});

afterAll(async () => {
  serve.process.kill('SIGTERM');
  await serve.ended;
  await Promise.all([sandbox.close(), database.drop(), workspace[Symbol.asyncDispose]()]);
});

test('the receiver answers every path that docs/how-to/monitoring.md names', async () => {
  const paths = inlineCodesOf('docs/how-to/monitoring.md').flatMap(({ text }) =>
    /^\/(healthz|readyz|metrics)$/.test(text) ? [text] : [],
  );
  expect([...new Set(paths)].toSorted()).toEqual(['/healthz', '/metrics', '/readyz']);
  // A busy machine answers /readyz with 503 until its database answers in time.
  const statusOf = async (path: string) => [path, (await fetch(receiver + path)).status];
  for (const path of paths) await expect.poll(() => statusOf(path), { timeout: 20_000 }).toEqual([path, 200]);
});

test('the sandbox answers every path that docs/reference/sandbox.md names', async () => {
  const ask = async (method: string, path: string): Promise<string> => {
    const answer = await fetch(sandbox.url + path, { method, headers: { authorization: 'Basic any' } });
    return `${answer.status} ${await answer.text()}`;
  };
  const named = inlineCodesOf('docs/reference/sandbox.md').flatMap(({ text }) => {
    const [, method = '', path = ''] = /^(GET|POST|PATCH) (\/\S+)$/.exec(text) ?? [];
    return path === '' ? [] : variantsOf(path).map((each) => ({ method, path: each }));
  });
  expect(named.length).toBeGreaterThan(8);
  for (const { method, path } of named)
    expect([method, path, await ask(method, path)]).not.toEqual([
      method,
      path,
      await ask(method, '/api/v2.02/nowhere'),
    ]);
});

test('docs/reference/metrics.md explains every metric, and no other', async () => {
  const text = await (await fetch(`${receiver}/metrics`)).text();
  const there = new Set([...text.matchAll(/^# HELP (volley_\w+)/gm)].map(([, name = '']) => name));
  const explained = new Set(
    inlineCodesOf('docs/reference/metrics.md').flatMap(
      ({ text: code }) => /^volley_[a-z_]+(?=$|\{)/.exec(code)?.[0] ?? [],
    ),
  );
  expect([...explained].toSorted()).toEqual([...there].toSorted());
});

/** `/send/{email|sms}` stands for two paths, `{MessageID}` for any. */
function variantsOf(path: string): string[] {
  const [whole, inner = ''] = /\{([^}]*)\}/.exec(path) ?? [];
  if (whole === undefined) return [path];
  const choices = inner.includes('|') ? inner.split('|') : ['a1b2c3'];
  return choices.flatMap((choice) => variantsOf(path.replace(whole, choice)));
}

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { useLedgerScene } from '../support/ledger-scene.ts';
import type { Ended } from '../support/volley.ts';

/** The environment does not set its variables. */
const accountsFile = `
accounts:
  main:
    interface: rest-2.02
    baseUrl: \${NOT_SET_URL}
    authToken: \${NOT_SET_TOKEN}
    limits: { requestsPerSecond: 50 }
  other:
    interface: rest-2.02
    baseUrl: \${NOT_SET_URL}
    authToken: \${NOT_SET_TOKEN}
`;

const scene = useLedgerScene();
beforeEach(() => scene.workspace.write('campaigns/accounts.yaml', accountsFile));
afterEach(() => scene.opened.ledger.pool.query('DELETE FROM rate_limits'));

const limits = (...words: string[]): Promise<Ended> => scene.command(['account', 'limits', ...words]);

const jsonLines = ({ stdout }: Ended): unknown[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const ofFile = (file: number | null) => ({ file, set: null, inForce: file });

describe('volley account limits', () => {
  test('volley account limits shows every account of the file, without needing its secrets', async () => {
    const ended = await limits('--json');
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(jsonLines(ended)).toEqual([
      { account: 'main', requestsPerSecond: ofFile(50), recipientsPerSecond: ofFile(null) },
      { account: 'other', requestsPerSecond: ofFile(null), recipientsPerSecond: ofFile(null) },
    ]);
  });

  test('volley account limits sets the given limits and keeps the others', async () => {
    await limits('main', '--recipients-per-second', '2000');
    const ended = await limits('main', '--requests-per-second', '0.5', '--json');
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(jsonLines(ended)).toEqual([
      {
        account: 'main',
        requestsPerSecond: { file: 50, set: 0.5, inForce: 0.5 },
        recipientsPerSecond: { file: null, set: 2_000, inForce: 2_000 },
      },
    ]);
  });

  test('volley account limits returns to the limits of the accounts file', async () => {
    await limits('main', '--requests-per-second', '7');
    const ended = await limits('main', '--requests-per-second', 'file', '--json');
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(jsonLines(ended)).toMatchObject([{ account: 'main', requestsPerSecond: ofFile(50) }]);
  });

  test('volley account limits prints a table by default', async () => {
    await limits('main', '--requests-per-second', '7');
    const { code, stdout } = await limits('main');
    expect(code).toBe(0);
    expect(stdout).toMatch(/main +│ requests a second +│ +50 │ +7 │ +7 /);
    expect(stdout).toMatch(/main +│ recipients a second +│ +none │ +│ +none /);
    expect(stdout).not.toMatch(/other/);
  });

  test('volley account limits shows the limits of an account that is no longer in the file, and removes them', async () => {
    await limits('other', '--requests-per-second', '7');
    await scene.workspace.write('campaigns/accounts.yaml', accountsFile.replace('  other:', '  renamed:'));
    expect(jsonLines(await limits('other', '--json'))).toMatchObject([
      { account: 'other', requestsPerSecond: { file: null, set: 7, inForce: 7 } },
    ]);
    expect(jsonLines(await limits('other', '--requests-per-second', 'file', '--json'))).toMatchObject([
      { account: 'other', requestsPerSecond: ofFile(null) },
    ]);
    expect((await limits('other')).code).toBe(2);
  });

  test.each([
    [
      ['maim', '--requests-per-second', '7'],
      /^campaigns\/accounts\.yaml: There is no account "maim"\. .*"main".*: main, other\.$/m,
    ],
    [['--requests-per-second', '7'], /^account limits: The change needs an account/],
    [['main', '--requests-per-second', '0'], /expected a number above 0, at most 100000/],
    [['main', '--requests-per-second', 'fast'], /expected a number above 0, .* or "file"/],
    [['main', '--recipients-per-second', '100001'], /expected a number above 0, at most 100000/],
  ])('volley account limits refuses %j and sets nothing', async (words, message) => {
    const { code, stdout, stderr } = await limits(...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    const { rows } = await scene.opened.ledger.pool.query('SELECT account FROM rate_limits');
    expect(rows).toEqual([]);
  });
});

test('volley token create --expires never makes a token that does not expire', async () => {
  const words = ['--name', 'robot', '--scope', 'read', '--expires', 'never', '--json'];
  const created = await scene.command(['token', 'create', ...words]);
  expect([created.code, JSON.parse(created.stdout)]).toMatchObject([0, { name: 'robot', expiresAt: null }]);
});

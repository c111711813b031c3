import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { useLedgerScene } from '../support/ledger-scene.ts';
import type { Ended } from '../support/volley.ts';

const scene = useLedgerScene();
afterEach(() => scene.opened.ledger.pool.query('DELETE FROM suppressions'));

const suppress = (...words: string[]): Promise<Ended> => scene.command(['suppress', ...words]);

async function suppressed(): Promise<string[]> {
  const { rows } = await scene.opened.ledger.pool.query<{ written: string }>(
    `SELECT concat_ws(' ', channel, address, nullif(sub_account, ''), nullif(reason, ''), source) AS written
     FROM suppressions ORDER BY channel, address, sub_account`,
  );
  return rows.map(({ written }) => written);
}

describe('volley suppress add', () => {
  test('volley suppress add suppresses addresses in their normal form, in every named channel', async () => {
    const words = ['021 123 4567', '+61412345678', '--channel', 'sms', 'voice', '--country', 'NZ'];
    expect(await suppress('add', ...words, '--reason', 'asked us')).toMatchObject({
      code: 0,
      stdout: '4 suppressed.\n',
    });
    expect(await suppressed()).toEqual([
      'sms +61412345678 asked us operator',
      'sms +64211234567 asked us operator',
      'voice +61412345678 asked us operator',
      'voice +64211234567 asked us operator',
    ]);
  });

  test('volley suppress add prints how many addresses were suppressed already, also as JSON', async () => {
    await suppress('add', 'ann@example.org', '--channel', 'email', '--sub-account', 'ACME');
    const words = ['ann@EXAMPLE.org', 'bob@example.org', '--channel', 'email', '--sub-account', 'ACME'];
    const { code, stdout } = await suppress('add', ...words, '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, { added: 1, already: 1 }]);
    expect(await suppressed()).toEqual([
      'email ann@example.org ACME operator',
      'email bob@example.org ACME operator',
    ]);
  });

  test.each([41, 100_000])(
    'volley suppress add refuses a SubAccount of %d characters without printing it',
    async (length) => {
      const words = ['+64211234567', '--channel', 'sms', '--sub-account', 'x'.repeat(length)];
      expect(await suppress('add', ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`The name has ${length} characters; the maximum is 40.`),
      });
      expect(await suppressed()).toEqual([]);
    },
  );

  test('volley suppress add names an invalid address and suppresses none', async () => {
    const { code, stdout, stderr } = await suppress('add', '+64211234567', '021 12', '--channel', 'sms');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      'address: "021 12" is not a phone number (no country code, and there is no --country).\n',
    );
    expect(await suppressed()).toEqual([]);
  });

  test.each([
    [['+64211234567'], /--channel <channel...> is missing/],
    [['+64211234567', '--channel', 'smss'], /expected email, .*got "smss"/],
    [
      ['a@b.org', '--channel', 'email', 'sms'],
      /^--channel: An address is an e-mail address or a phone number/,
    ],
    [['+64211234567', '--channel', 'sms', '--country', 'Atlantis'], /expected a country with phone numbers/],
  ])('volley suppress add refuses %j', async (words, expected) => {
    const { code, stderr } = await suppress('add', ...words);
    expect(code).toBe(2);
    expect(stderr).toMatch(expected);
    expect(await suppressed()).toEqual([]);
  });
});

describe('volley suppress remove', () => {
  test('volley suppress remove removes suppressions, and names addresses that had none', async () => {
    await suppress('add', '+64211234567', '--channel', 'sms', 'fax');
    const words = ['+64211234567', '+64211234568', '--channel', 'sms'];
    expect(await suppress('remove', ...words)).toMatchObject({
      code: 0,
      stdout: '1 removed.\n+64211234568 (sms) was not suppressed.\n',
    });
    expect(await suppressed()).toEqual(['fax +64211234567 operator']);
  });

  test('volley suppress remove keeps the suppression for a SubAccount that is not named', async () => {
    await suppress('add', '+64211234567', '--channel', 'sms', '--sub-account', 'ACME');
    const key = { channel: 'sms', address: '+64211234567', account: '', subAccount: '' };
    const others = [{ ...key, subAccount: 'ACME' }];
    const first = await suppress('remove', '+64211234567', '--channel', 'sms', '--json');
    expect([first.code, JSON.parse(first.stdout)]).toEqual([0, { removed: 0, missing: [key], others }]);
    await suppress('remove', '+64211234567', '--channel', 'sms', '--sub-account', 'ACME');
    expect(await suppressed()).toEqual([]);
  });

  test('volley suppress remove names an invalid address and removes none', async () => {
    await suppress('add', '+64211234567', '--channel', 'sms');
    const { code, stderr } = await suppress('remove', '+64211234567', 'ann', '--channel', 'sms');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^address: "ann" is not a phone number/);
    expect(await suppressed()).toHaveLength(1);
  });
});

describe('volley suppress import', () => {
  test('volley suppress import suppresses the addresses of a file', async () => {
    await scene.workspace.write(
      'list.csv',
      'Name,Mobile,SubAccount\nAnn,021 123 4567,\nBob,021 123 4568,ACME\n',
    );
    const words = ['list.csv', '--channel', 'sms', '--country', 'NZ', '--reason', 'old system'];
    expect(await suppress('import', ...words)).toMatchObject({
      code: 0,
      stdout: '2 suppressed.\n',
      stderr: '',
    });
    expect(await suppressed()).toEqual([
      'sms +64211234567 old system import',
      'sms +64211234568 ACME old system import',
    ]);
  });

  test('volley suppress import names a line whose SubAccount is too long, and imports the others', async () => {
    const names = ['x'.repeat(40), Array.from({ length: 9_000 }, (_, at) => at * at).join('')];
    await scene.workspace.write(
      'long.csv',
      `to,SubAccount\n+64211234567,${names[0]}\n+64211234568,${names[1]}\n`,
    );
    expect(await suppress('import', 'long.csv', '--channel', 'sms')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/long.csv:3: its SubAccount has \d+ characters; expected at most 40/),
    });
    expect(await suppressed()).toEqual([`sms +64211234567 ${names[0]} import`]);
  });

  test('volley suppress import reads a list of addresses without a header, and a column by its name', async () => {
    await scene.workspace.write('alone.csv', 'ann@example.org\nbob@example.org\n');
    await scene.workspace.write('named.csv', 'first,second\nann@example.org,cyd@example.org\n');
    await suppress('import', 'alone.csv', '--channel', 'email', '--sub-account', 'TAS');
    await suppress('import', 'named.csv', '--channel', 'email', '--column', 'second');
    expect(await suppressed()).toEqual([
      'email ann@example.org TAS import',
      'email bob@example.org TAS import',
      'email cyd@example.org import',
    ]);
  });

  test('volley suppress import imports the readable lines, and lists the first twenty others and their number', async () => {
    const rows = Array.from({ length: 25 }, (_, index) => `nobody ${index}`);
    await scene.workspace.write(
      'list.csv',
      ['Mobile', '+64211234567', ...rows, '+64211234568', ''].join('\n'),
    );
    const { code, stdout, stderr } = await suppress('import', 'list.csv', '--channel', 'sms', 'fax');
    expect([code, stdout]).toEqual([3, '4 suppressed.\n']);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(21);
    expect(lines[0]).toMatch(/^list\.csv:3: "nobody 0" is not a phone number/);
    expect(lines[19]).toMatch(/^list\.csv:22: "nobody 19" is not a phone number/);
    expect(lines[20]).toBe('25 lines without an address that can be suppressed, the first 20 shown.');
    expect(await suppressed()).toHaveLength(4);
  });

  test('volley suppress import --json prints the same figures', async () => {
    await scene.workspace.write('list.csv', 'Mobile\n+64211234567\n+64 21 1234567\nnobody\n');
    const { code, stdout, stderr } = await suppress('import', 'list.csv', '--channel', 'sms', '--json');
    expect([code, stderr]).toEqual([3, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      read: 3,
      added: 1,
      already: 1,
      unreadable: 1,
      problems: [{ where: 'list.csv:4' }],
    });
  });

  test('volley suppress import refuses a file that does not exist or has no column of addresses', async () => {
    await scene.workspace.write('list.csv', 'a,b\n1,2\n');
    const missing = await suppress('import', 'nosuch.csv', '--channel', 'sms');
    expect(missing.code).toBe(2);
    expect(missing.stderr).toMatch(/^nosuch\.csv: /);
    const unclear = await suppress('import', 'list.csv', '--channel', 'sms');
    expect(unclear.code).toBe(2);
    expect(unclear.stderr).toMatch(/^list\.csv: Expected one column of addresses, and found "a", "b"/);
  });
});

test('a list of suppressions as CSV can be imported again, and contains no text that a spreadsheet computes', async () => {
  await scene.opened.ledger.pool.query(`
    INSERT INTO suppressions (channel, address, sub_account, reason, source, created_at)
    VALUES ('email', '+1@example.org', '', '@now', 'operator', '2026-11-21T08:00:00Z'),
           ('email', chr(39) || '+a@example.org', '-x', '', 'import', '2026-11-21T08:00:00Z'),
           ('sms', '+64211234567', 'ACME, "North"', '=HYPERLINK("x")', 'report', '2026-11-21T08:00:00Z')
  `);
  const keys = 'SELECT channel, address, sub_account FROM suppressions ORDER BY 1, 2, 3';
  const before = (await scene.opened.ledger.pool.query(keys)).rows;
  const { stdout } = await suppress('list', '--csv');
  expect(stdout).toBe(
    [
      'Channel,Address,Account,SubAccount,Source,Since (UTC),Reason',
      "email,''+a@example.org,,'-x,import,2026-11-21T08:00:00.000Z,",
      "email,'+1@example.org,,,operator,2026-11-21T08:00:00.000Z,'@now",
      `sms,+64211234567,,"ACME, ""North""",report,2026-11-21T08:00:00.000Z,"'=HYPERLINK(""x"")"`,
      '',
    ].join('\n'),
  );
  await scene.workspace.write('list.csv', stdout);
  await scene.opened.ledger.pool.query('DELETE FROM suppressions');
  const imported = await suppress('import', 'list.csv', '--channel', 'email');
  expect(imported).toMatchObject({ code: 3, stdout: '2 suppressed.\n' });
  expect(imported.stderr).toContain('list.csv:4: its channel is "sms"');
  await suppress('import', 'list.csv', '--channel', 'sms');
  expect((await scene.opened.ledger.pool.query(keys)).rows).toEqual(before);
});

describe('a suppression for one account', () => {
  const accounts = `accounts:
  main: { interface: rest-2.02, baseUrl: "https://service.example", authToken: "\${TOKEN}" }
  second: { interface: rest-2.02, baseUrl: "https://service.example", authToken: "\${TOKEN}", suppressionsOf: main }
  other: { interface: rest-2.02, baseUrl: "https://other.example", authToken: "\${TOKEN}" }
`;
  const words = ['+64211234567', '--channel', 'sms'];
  const kept = async () => (await scene.opened.ledger.pool.query('SELECT account FROM suppressions')).rows;
  beforeEach(() => scene.workspace.write('campaigns/accounts.yaml', accounts));

  test('a suppression for one account is stored for the account named by its suppressionsOf', async () => {
    await suppress('add', ...words, '--account', 'second');
    expect(await kept()).toEqual([{ account: 'main' }]);
    expect((await suppress('list', '--account', 'main')).stdout).toMatch(/\+64211234567.*main/);
    expect((await suppress('list', '--account', 'other')).stdout).toBe('No suppressions.\n');
  });

  test('a suppression for one account is removed only with --account, and remove says that it remains', async () => {
    await suppress('add', ...words, '--account', 'main');
    expect((await suppress('remove', ...words)).stdout).toBe(
      [
        '0 removed.',
        '+64211234567 (sms) was not suppressed.',
        '+64211234567 (sms) for account "main" is still suppressed.\n',
      ].join('\n'),
    );
    await suppress('remove', ...words, '--account', 'main');
    expect(await kept()).toEqual([]);
  });

  test('a suppression for one account is kept when a list is exported and imported', async () => {
    await suppress('add', ...words, '--account', 'other');
    await scene.workspace.write('list.csv', (await suppress('list', '--csv')).stdout);
    await scene.opened.ledger.pool.query('DELETE FROM suppressions');
    await suppress('import', 'list.csv', '--channel', 'sms');
    expect(await kept()).toEqual([{ account: 'other' }]);
  });

  test('a suppression for one account needs an existing account', async () => {
    const { code, stderr } = await suppress('add', ...words, '--account', 'mian');
    expect(code).toBe(2);
    expect(stderr).toMatch(/--account: .*has no account "mian".*main/);
    expect(await kept()).toEqual([]);
  });
});

describe('volley suppress list', () => {
  beforeEach(async () => {
    await suppress('add', '+64211234567', '--channel', 'sms', 'fax', '--reason', 'asked\u001b us');
    await suppress('add', '+64211234568', '--channel', 'sms', '--sub-account', 'ACME');
  });

  test('volley suppress list prints a table without control characters', async () => {
    const { code, stdout } = await suppress('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/fax.*\+64211234567.*\(all\).*an operator.*asked\\x1b us.*tester@here.*\n.*sms/);
    expect(stdout).toMatch(/sms.*\+64211234568.*ACME.*operator/);
  });

  test.each<[readonly string[], readonly string[]]>([
    [[], ['fax +64211234567', 'sms +64211234567', 'sms +64211234568']],
    [['--channel', 'fax'], ['fax +64211234567']],
    [['--sub-account', 'ACME'], ['sms +64211234568']],
    [
      ['--address', '021 123 4567', '--country', 'NZ'],
      ['fax +64211234567', 'sms +64211234567'],
    ],
    [['--limit', '1'], ['fax +64211234567']],
  ])('volley suppress list %j prints one JSON object a line', async (words, expected) => {
    const { code, stdout } = await suppress('list', ...words, '--json');
    expect(code).toBe(0);
    const listed = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    expect(listed.map(({ channel, address }) => `${channel} ${address}`)).toEqual(expected);
    expect(Object.keys(listed[0]).toSorted()).toEqual([
      'account',
      'address',
      'by',
      'channel',
      'createdAt',
      'reason',
      'source',
      'subAccount',
    ]);
  });

  test('volley suppress list says that there are no suppressions', async () => {
    expect(await suppress('list', '--channel', 'tts')).toMatchObject({
      code: 0,
      stdout: 'No suppressions.\n',
    });
  });
});

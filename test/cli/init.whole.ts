import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { createBareDatabase, type TestDatabase } from '../support/database.ts';
import { projectFolder } from '../support/documents.ts';
import { copyHome, removeHome, throwAwayOptions } from '../support/embedded-home.ts';
import { type InProcessOptions, volleyInProcess } from '../support/volley.ts';
import { accountsYaml, makeWorkspace, smsCampaignYaml, type Workspace } from '../support/workspace.ts';

const execute = promisify(execFile);

async function workspaceFor(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await makeWorkspace(files);
  onTestFinished(() => workspace[Symbol.asyncDispose]());
  return workspace;
}

/** Without line ends, because a terminal has its own. */
const linesOf = (text: string): string[] => text.split(/\r?\n/);

describe('in an empty folder', () => {
  const name = "shop's 5% sale";
  let workspace: Workspace;
  let release: () => Promise<void>;
  let printed: string;
  const at = (path: string): string => join(workspace.folder, name, path);
  beforeAll(async () => {
    workspace = await makeWorkspace({ [`${name}/.keep`]: '' });
    chmodSync(workspace.folder, 0o711);
    copyHome(inject('initialHome'), at('.volley'));
    // The server that `init` would start, except that it flushes nothing to disk.
    ({ release } = await leaseEmbeddedServer(at('.volley'), throwAwayOptions));
    const { code, stdout } = await volleyInProcess(['init', name], { cwd: workspace.folder });
    expect(code).toBe(0);
    printed = stdout;
  });
  afterAll(async () => {
    await release();
    await removeHome(at('.volley'));
    await workspace[Symbol.asyncDispose]();
  });

  test('the printed line for cron sends the first campaign, with nothing of our environment', async () => {
    const line = linesOf(printed).find((each) => each.startsWith('  0 9 * * 1-5 ')) ?? '';
    // What cron does with a line.
    const command = line.replace('  0 9 * * 1-5 ', '').replaceAll('\\%', '%');
    const { stdout } = await execute('env', ['-i', 'sh', '-c', command], { cwd: '/' });
    expect(stdout).toMatch(
      / {2}contacts {4}12 read: 1 invalid\n.*\n {2}recipients {2}11: 11 delivered\n {2}outcome {5}12: 11 delivered, 1 left out; 100\.0 % delivered\n$/,
    );
  });

  test('the printed next commands go to the project, plan the first campaign and send it', async () => {
    const lines = linesOf(printed).filter((line) => line !== '');
    const [next = '', ...commands] = lines.slice(-4).map((line) => line.trim().replace(/ +#.*/, ''));
    expect(next).toBe('Next:');
    expect(commands).toEqual([
      `cd 'shop'\\''s 5% sale'`,
      'volley plan campaigns/first.yaml',
      'volley run campaigns/first.yaml --sandbox',
    ]);
    for (const [command, result] of [
      [commands[1], 'Hello Ann, this is our first message.'],
      [`${commands[2]} --again`, '11 delivered'],
    ] as const) {
      const words = command?.split(' ').slice(1) ?? [];
      const { code, stdout } = await volleyInProcess(words, { cwd: at('') });
      expect([code, stdout]).toEqual([0, expect.stringContaining(result)]);
    }
  });

  test('the schemas that its files name are those of volley schema, and only the user can read the secrets', async () => {
    for (const kind of ['campaign', 'accounts']) {
      const file = kind === 'campaign' ? 'first' : 'accounts';
      expect(await workspace.read(`${name}/campaigns/${file}.yaml`)).toMatch(
        `# yaml-language-server: $schema=./${kind}.schema.json\n`,
      );
      expect(await workspace.read(`${name}/campaigns/${kind}.schema.json`)).toBe(
        (await volleyInProcess(['schema', kind])).stdout,
      );
    }
    expect(statSync(at('.env')).mode & 0o777).toBe(0o600);
    const [secret = ''] =
      /(?<=VOLLEY_WEBHOOK_TOKEN=)[\w-]{32}$/m.exec(await workspace.read(`${name}/.env`)) ?? [];
    expect(secret).toHaveLength(32);
    for (const path of ['.env.example', 'campaigns/accounts.yaml'])
      expect(await workspace.read(`${name}/${path}`)).not.toContain(secret);
    expect(linesOf(await workspace.read(`${name}/.gitignore`))).toContain('.env');
  });

  test('volley init again makes nothing', async () => {
    const { code, stdout } = await volleyInProcess(['init', '--json'], { cwd: at('') });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        project: at('').replace(/\/$/, ''),
        made: false,
        ledger: expect.objectContaining({ made: false }),
        files: { made: [], kept: [] },
      },
    ]);
  });
});

describe('with a database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createBareDatabase();
  });
  afterAll(() => database.drop());

  const init = (cwd: string, words: readonly string[], options: InProcessOptions = {}) =>
    volleyInProcess(['init', ...words], {
      ...options,
      cwd,
      env: { DATABASE_URL: database.url, ...options.env },
    });

  async function initJson(cwd: string, ...words: string[]) {
    const { code, stdout, stderr } = await init(cwd, [...words, '--json']);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('rror')]);
    return JSON.parse(stdout);
  }

  const check = (cwd: string, campaign: string) =>
    volleyInProcess(['plan', '--check', `campaigns/${campaign}.yaml`, '--json'], { cwd });

  test('the first campaign is for the contact file that is named, which stays where it is', async () => {
    const { folder, read } = await workspaceFor({
      'members.csv': 'Full Name;Handy Nr\nAnn Lee;0491 570 006\nBob Okafor;+61491570156\n',
      'club/lists/mail.csv': 'E-mail\nann@example.org\n',
    });
    const chosen = [
      '--recipient',
      'Handy Nr',
      '--channel',
      'sms',
      '--country',
      'australia',
      '--name',
      'spring',
    ];
    const made = await initJson(folder, 'club', '--contacts', 'members.csv', ...chosen);
    expect(made).toMatchObject({ campaign: 'campaigns/spring.yaml', made: true, files: { kept: [] } });
    expect(made.files.made).not.toContain('campaigns/contacts/example.csv');
    const spring = await read('club/campaigns/spring.yaml');
    expect(spring).toContain(`\n  file: ${folder}/members.csv\n  country: AU # `);
    expect(spring).toContain('\n  columns: { Recipient: "Handy Nr" }\n');
    expect(spring).toContain('\n  Message: "Hello [[Full Name|there]], this is our first message."\n');
    expect((await check(join(folder, 'club'), 'spring')).code).toBe(0);

    // A further campaign for the project, which has its settings already.
    const more = await initJson(join(folder, 'club'), '--contacts', 'lists/mail.csv', '--name', 'mail');
    expect(more).toMatchObject({
      made: false,
      files: { made: ['campaigns/mail.yaml'], kept: ['campaigns/campaign.schema.json'] },
    });
    expect(await read('club/campaigns/mail.yaml')).toMatch(
      /channel: email\ncontacts:\n {2}file: \.\.\/lists\/mail\.csv\n/,
    );
    expect((await check(join(folder, 'club'), 'mail')).code).toBe(0);
  });

  test.each([
    [
      ['--contacts', 'national.csv'],
      /^--country: 2 of the first 3 numbers in the column "mobile" have no country code\. .*--country AU/,
    ],
    [
      ['--contacts', 'plain.csv'],
      /^--contacts: No column of plain\.csv .* Its columns: a, b\. Add --channel and --recipient/,
    ],
    [['--contacts', 'plain.csv', '--channel', 'email'], /named like an e-mail address\. .*Add --recipient/],
    [
      ['--contacts', 'plain.csv', '--channel', 'sms', '--recipient', 'c'],
      /^--recipient: There is no column "c"\./,
    ],
    [['--contacts', 'plain.csv', '--recipient', 'a'], /^--recipient: "a" is named neither .* Add --channel/],
    [
      ['--contacts', 'gone.csv'],
      /^--contacts: The contact file gone\.csv cannot be read \(it does not exist\)/,
    ],
    [['--contacts', 'all*.csv'], /^--contacts: In a campaign, the name all\*\.csv stands for several files/],
    [['--name', '../x'], /^--name <name>: expected a name of at most 60 letters/],
    [['--bare', '--name', 'x'], /^--bare: It writes no campaign, so it excludes --name/],
  ])('volley init shop %j ends with 2, and makes nothing', async (words, message) => {
    const { folder } = await workspaceFor({
      'national.csv': 'mobile\n0491570006\n0491570156\n+61491570157\n',
      'plain.csv': 'a,b\n1,2\n',
      'all*.csv': 'mobile\n+61491570006\n',
    });
    const { code, stdout, stderr } = await init(folder, ['shop', ...words]);
    expect([code, stdout, existsSync(join(folder, 'shop'))]).toEqual([2, '', false]);
    expect(stderr).toMatch(message);
  });

  test('existing files are kept and listed, with what .gitignore lacks', async () => {
    const own = {
      '.gitignore': 'node_modules\n.env\n',
      '.env': 'LOG_LEVEL=warn\n',
      'campaigns/contacts/example.csv': 'a\n',
    };
    const { folder, read } = await workspaceFor(own);
    const { code, stdout } = await init(folder, []);
    expect(code).toBe(0);
    for (const [path, text] of Object.entries(own)) {
      expect(await read(path)).toBe(text);
      expect(stdout).toMatch(new RegExp(`^  kept  ${path.replaceAll('.', '\\.')} +it was there$`, 'm'));
    }
    expect(stdout).toContain('Add to .gitignore:\n  .volley/\n  campaigns/contacts/*\n');
    expect(stdout).toContain('DATABASE_URL: set in this shell only.');
  });

  test('a folder with campaigns gets the marker and the ledger only, and a campaign of its own account if one is asked for', async () => {
    const accounts = accountsYaml.replace('sandbox:', 'main:');
    const { folder, read } = await workspaceFor({
      'campaigns/accounts.yaml': accounts,
      'campaigns/night.yaml': smsCampaignYaml,
      '.env.example': 'VOLLEY_SANDBOX_TOKEN=\n',
    });
    const { stdout } = await init(folder, []);
    expect(stdout).toContain('.env is missing. Copy .env.example to it');
    expect(stdout).not.toContain('made');
    expect(await initJson(folder, '--name', 'day')).toMatchObject({
      files: {
        made: ['campaigns/day.yaml', 'campaigns/contacts/example.csv', 'campaigns/campaign.schema.json'],
      },
      next: ['volley plan campaigns/day.yaml', 'volley run campaigns/day.yaml'],
    });
    expect(await read('campaigns/day.yaml')).toContain('\naccount: main\n');
    expect(await read('campaigns/accounts.yaml')).toBe(accounts);
  });

  test('a campaign that would have the name of the accounts file is refused', async () => {
    const { folder } = await workspaceFor();
    const { code, stderr } = await volleyInProcess(['init', folder, '--name', 'Accounts', '--yes']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('campaigns/accounts.yaml holds the accounts'),
    ]);
    expect(existsSync(join(folder, 'campaigns'))).toBe(false);
  });

  test('--bare makes the marker and the ledger only', async () => {
    const { folder } = await workspaceFor();
    expect(await initJson(folder, '--bare')).toMatchObject({ made: true, files: { made: [], kept: [] } });
    expect(existsSync(join(folder, '.volley-project'))).toBe(true);
    expect(existsSync(join(folder, '.env'))).toBe(false);
  });

  test('the ledger is that of the .env of the new project, not of the project that the command is called in', async () => {
    const { folder } = await workspaceFor({
      'one/.volley-project': '',
      'one/.env': 'DATABASE_URL=postgres://127.0.0.1:1/other\n',
      'two/.env': `DATABASE_URL=${database.url}\n`,
    });
    for (const name of ['one', 'two']) chmodSync(join(folder, name, '.env'), 0o600);
    const { code, stdout } = await volleyInProcess(['init', '../two', '--json'], {
      cwd: join(folder, 'one'),
    });
    expect([code, JSON.parse(stdout).ledger.description]).toEqual([
      0,
      expect.stringContaining(new URL(database.url).host),
    ]);
  });

  test('on a terminal, it asks what no option gives, and asks again after a mistake', async () => {
    const { folder, read } = await workspaceFor({ 'list.csv': 'who,where\nAnn,0491570006\n' });
    const typed = ['bad name', 'spring', 'gone.csv', 'list.csv', 'fax', '', 'phone', 'where', 'Atlantis', ''];
    const asked = await init(folder, ['shop'], { typed, env: { LANG: 'en_AU.UTF-8' } });
    expect([asked.code, linesOf(asked.stderr).filter((line) => !line.startsWith('A new'))]).toEqual([
      0,
      [
        'Name of the first campaign [first]:   expected a name of at most 60 letters, digits, "-" and "_".',
        'Name of the first campaign [first]: Contact file (CSV or workbook), or Enter for an example:   The contact file gone.csv cannot be read (it does not exist).',
        'Contact file (CSV or workbook), or Enter for an example: Channel: sms or email [sms]:   expected sms or email.',
        'Channel: sms or email [sms]: Column with the phone number. Its columns: who, where. Column:   expected a column of list.csv. Its columns: who, where.',
        'Column with the phone number. Its columns: who, where. Column: Country of numbers without a country code, such as AU [AU]:   expected a country with phone numbers, such as NZ.',
        'Country of numbers without a country code, such as AU [AU]: ',
      ],
    ]);
    expect(await read('shop/campaigns/spring.yaml')).toContain('\n  country: AU ');
    const none = await init(folder, ['other', '--yes'], { typed: [] });
    expect([none.code, none.stderr]).toEqual([0, '']);
    const ended = await init(folder, ['third'], { typed: ['one'] });
    expect([ended.code, existsSync(join(folder, 'third'))]).toEqual([2, false]);
    expect(ended.stderr).toContain('It ended before all questions were answered. Nothing was made.\n');
  });

  // util-linux, which every Debian has.
  const hasTerminals = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

  /** Types each answer when its question is on the screen of a real terminal. */
  async function typeAt(cwd: string, dialogue: readonly (readonly [question: string, answer: string])[]) {
    const { PATH = '', HOME = '' } = process.env;
    const command = `stty cols 80; exec '${process.execPath}' '${projectFolder}/src/cli/volley.js' init shop`;
    const env = { PATH, HOME, TERM: 'xterm', DATABASE_URL: database.url };
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env });
    let screen = '';
    let shown = 0;
    child.stdout.on('data', (piece: Buffer) => {
      screen += piece.toString();
    });
    const closed = once(child, 'close');
    for (const [question, answer] of dialogue) {
      await expect.poll(() => screen.indexOf(question, shown)).toBeGreaterThanOrEqual(0);
      shown = screen.indexOf(question, shown) + question.length;
      child.stdin.write(answer);
    }
    const [code] = await closed;
    return { code, screen };
  }

  test.skipIf(!hasTerminals)('on a real terminal, Enter takes the defaults, and Ctrl-C ends it', async () => {
    const { folder, read } = await workspaceFor();
    const stopped = await typeAt(folder, [['[first]: ', '\u0003']]);
    expect([stopped.code, existsSync(join(folder, 'shop'))]).toEqual([130, false]);
    expect(stopped.screen).toContain('Stopped. Run `volley init` again to continue.');
    const { code, screen } = await typeAt(folder, [
      ['[first]: ', '\n'],
      ['for an example: ', '\n'],
      ['[sms]: ', 'email\n'],
    ]);
    expect([code, linesOf(screen).at(-2)]).toEqual([
      0,
      '  volley run campaigns/first.yaml --sandbox  # send it',
    ]);
    expect(await read('shop/campaigns/first.yaml')).toContain('columns: { Recipient: email }');
  });
});

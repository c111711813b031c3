import { execFileSync } from 'node:child_process';
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyLedger } from '../support/empty-ledger.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import type { Ended } from '../support/volley.ts';
import { accountsYaml, noRepeatCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene();

const contacts = `mobile,name,code
0412000001,Ann,A
0412000002,Bob,A
0412000001,Ann again,A
eve,Eve,A
0412000003,Cid,B
`;

const campaign = `${noRepeatCampaignYaml}attachments: .
files: [{ file: note.txt }]
window: { from: "00:00", to: "23:59", timeZone: Etc/UTC }
`;

const accounts = `${accountsYaml}    rates: [{ channel: sms, unit: part, price: "0.10", currency: AUD }]\n`;

beforeEach(async () => {
  await emptyLedger(scene.ledger.pool);
  await scene.write('accounts.yaml', accounts);
  await scene.write('campaign.yaml', campaign);
  await scene.write('contacts.csv', contacts);
  await scene.write('note.txt', 'all is well');
});

const call = (...words: string[]): Promise<Ended> => scene.command(words);

async function plan(...words: string[]): Promise<void> {
  const { code, stdout, stderr } = await call('plan', 'campaign.yaml', '--out', 'plan.json', ...words);
  expect(stdout).toMatch(/^Plan of .*\. Nothing has been sent\.\n/);
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('run --plan plan.json'),
  });
}

const run = (...words: string[]): Promise<Ended> => call('run', '--plan', 'plan.json', ...words);

const recipients = async (): Promise<readonly string[]> =>
  (await scene.journal())
    .flatMap((line) => line.recipients)
    .map((address) => address.slice(-1))
    .toSorted();

async function expectRefusal(...texts: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run();
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  for (const text of texts) expect(stderr).toContain(text);
  expect(await recipients()).toEqual([]);
  const { rows } = await scene.ledger.pool.query('SELECT FROM runs');
  expect(rows).toEqual([]);
}

describe('a plan that still holds', () => {
  test('it is sent, once, from any folder', async () => {
    await plan();
    const { code, stdout } = await scene.command(['run', '--plan', '../plan.json', '--json'], {
      subfolder: await subfolder(),
      env: { VOLLEY_ACCOUNTS: join(scene.folder, 'accounts.yaml') },
    });
    expect(code).toBe(0);
    expect(await recipients()).toEqual(['1', '2', '3']);
    const again = await run('--again');
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`This plan was run: run ${JSON.parse(stdout).run} is completed.`),
    });
    expect(await recipients()).toEqual(['1', '2', '3']);
  });

  test('a second call names the run of the first, whose process has ended, and how it goes on', async () => {
    await plan();
    const { run: first } = JSON.parse((await run('--json')).stdout);
    await scene.ledger.pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [first]);
    expect((await run()).stderr).toContain(
      `This plan was run: run ${first} is running. A plan is run once. \`volley resume ${first}\` continues its run.`,
    );
  });

  test('its file has no address and no text of a message or row, and only its owner can read it', async () => {
    await plan();
    const text = await readFile(join(scene.folder, 'plan.json'), 'utf8');
    for (const secret of ['412000001', 'Hello', 'Ann', 'all is well', 'any', scene.sandbox.url])
      expect(text).not.toContain(secret);
    expect((await stat(join(scene.folder, 'plan.json'))).mode & 0o777).toBe(0o600);
    await plan();
    expect(await call('plan', 'campaign.yaml', '--out', 'campaign.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exists already'),
    });
  });

  test('a place that is no plan file is refused before planning, and is neither read to its end nor waited for', async () => {
    execFileSync('mkfifo', [join(scene.folder, 'pipe')]);
    await symlink('/dev/zero', join(scene.folder, 'endless'));
    for (const out of ['pipe', 'endless', 'campaign.yaml']) {
      const { code, stdout, stderr } = await call('plan', 'campaign.yaml', '--out', out);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(
        `${out}: The file cannot be written (it exists already; remove it or choose another name).`,
      );
    }
    expect(await call('run', '--plan', 'endless')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'endless: The plan file has more than 65,536 KiB; expected at most 65,536',
      ),
    });
  });

  test('a comment in the campaign file changes nothing', async () => {
    await plan();
    await scene.write('campaign.yaml', `# checked\n${campaign}`);
    expect(await run()).toMatchObject({ code: 0 });
  });

  test('its choices are its own: contact files, a limit, and the run that it continues', async () => {
    await scene.write('other.csv', contacts);
    await plan('--contacts', 'other.csv', '--limit', '1');
    const first = JSON.parse((await run('--json')).stdout);
    expect(first.contacts).toMatchObject({ read: 5, beyondLimit: 2 });
    await plan('--contacts', 'other.csv', '--of', first.run);
    expect(await run()).toMatchObject({ code: 0 });
    expect(await recipients()).toEqual(['1', '2', '3']);
  });

  test('rows before the first one that names a run are compared with what it reached', async () => {
    const first = JSON.parse((await call('run', 'campaign.yaml', '--limit', '1', '--json')).stdout).run;
    const header = 'mobile,name,code,Volley Run';
    await scene.write('added.csv', `${header}\n0412000001,Ann,A,\n`);
    await scene.write('left-out.csv', `${header}\n0412000002,Bob,A,${first}\n`);
    await plan('--contacts', 'added.csv', '--contacts', 'left-out.csv');
    expect(await run()).toMatchObject({ code: 0 });
    expect(await recipients()).toEqual(['1', '2']);
  });

  test('it may have a time zone and a file for each row, repeated rows, and fixed contacts of a run that is not over', async () => {
    await scene.write('letters/a.txt', 'Dear A');
    await scene.write('letters/b.txt', 'Dear B');
    const lines = ['mail,zone,letter', 'ann@x.example,Pacific/Auckland,a', 'bob@x.example,,b', 'bad,,a'];
    await scene.write('mail.csv', [...lines, 'ann@x.example,,b', 'cid@x.example,Europe/Berlin,b'].join('\n'));
    await scene.write(
      'campaign.yaml',
      `campaign: letters
account: sandbox
channel: email
contacts: { file: mail.csv, columns: { Recipient: mail }, duplicates: allow, notWithin: 1h }
message: { EmailSubject: "Hello", MessagePlain: "Dear [[mail]]" }
files: [{ file: "letters/[[letter]].txt" }]
window: { from: "00:00", to: "23:59", timeZone: { column: zone } }
timeZone: Etc/UTC
`,
    );
    await plan('--limit', '1');
    const started = await run('--json');
    expect(started).toEqual({ code: 0, stdout: expect.anything(), stderr: expect.anything() });
    const first = JSON.parse(started.stdout);
    expect((await call('report', 'contacts', first.run, '--out', 'result.csv')).code).toBe(0);
    await scene.ledger.pool.query(
      `UPDATE runs SET created_at = created_at - interval '2 hours', finished_at = NULL`,
    );
    const text = (await readFile(join(scene.folder, 'campaign.yaml'), 'utf8')).replace(', notWithin: 1h', '');
    await scene.write('campaign.yaml', text);
    await plan('--contacts', 'result.csv');
    expect(await run()).toMatchObject({ code: 0 });
    const journal = await scene.journal();
    const sent = journal.flatMap(({ recipients: [to], message }) => `${to} ${message?.files[0]?.name}`);
    expect(sent.toSorted()).toEqual([
      'ann@x.example a.txt',
      'ann@x.example b.txt',
      'bob@x.example b.txt',
      'cid@x.example b.txt',
    ]);
  });

  test('a test can be planned, too', async () => {
    await plan('--test-to', '0499000119');
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject({ kind: 'test' });
    expect(await recipients()).toEqual(['9']);
  });

  test('a run that needs approval waits for it as planned', async () => {
    await scene.write('campaign.yaml', `${campaign}approval: required\n`);
    await plan();
    const waiting = await run('--json');
    expect(waiting).toMatchObject({ code: 4, stderr: expect.stringContaining('waits for approval') });
    const id = JSON.parse(waiting.stdout).run;
    expect(await scene.command(['approve', id], { user: 'bob@desk' })).toMatchObject({ code: 0 });
    expect(await call('resume', id)).toMatchObject({ code: 0 });
    expect(await recipients()).toEqual(['1', '2', '3']);
  });
});

async function subfolder(): Promise<string> {
  await scene.write('deep/keep.txt', '');
  return 'deep';
}

describe('a plan is refused', () => {
  const writeCampaign = (from: string, to: string) => () =>
    scene.write('campaign.yaml', campaign.replace(from, to));
  const writeContacts = (text: string) => () => scene.write('contacts.csv', text);
  const suppress = async (): Promise<void> => {
    await call('suppress', 'add', '+61412000002', '--channel', 'sms', '--account', 'sandbox');
  };

  test.each<[string, () => Promise<unknown>, readonly string[]]>([
    [
      'another message text',
      writeCampaign('Hello', 'Good evening and hello'),
      ['campaign.yaml:10:12: "message.Message" has changed since the plan.'],
    ],
    [
      'another number',
      writeCampaign('chunkSize: 1', 'chunkSize: 2'),
      ['"dispatch.chunkSize" has changed since the plan.', 'Requests: 2; in the plan 3.'],
    ],
    [
      'a key that is new',
      writeCampaign('channel: sms', 'channel: sms\nbudget: { campaign: 5 }'),
      ['"budget.campaign" is new since the plan.'],
    ],
    ['another sending window', writeCampaign('23:59', '23:58'), ['"window.to" has changed since the plan.']],
    [
      'another time zone',
      writeCampaign('Etc/UTC', 'Australia/Sydney'),
      ['"window.timeZone.zone" has changed', 'other sending windows or time zones'],
    ],
    [
      'a row more',
      writeContacts(`${contacts}0412000004,Dan,A\n`),
      [
        'contacts.csv: The contact file has changed since the plan: it has 6 rows, 1 more than in the plan.',
        'Recipients: 4; in the plan 3.',
        'Estimated cost: 0.40 AUD; in the plan 0.30 AUD.',
      ],
    ],
    [
      'a row fewer',
      writeContacts(contacts.replace('0412000003,Cid,B\n', '')),
      ['it has 4 rows, 1 fewer than in the plan', 'Recipients: 2; in the plan 3.'],
    ],
    [
      'another row',
      writeContacts(contacts.replace('Bob', 'Rob')),
      ['it still has 5 rows, but not the same', 'The values, addresses or order of rows differ'],
    ],
    [
      'another duplicate',
      writeContacts(contacts.replace('0412000003', '0412000002')),
      ['1 more row repeats an earlier one than in the plan.', 'Recipients: 2; in the plan 3.'],
    ],
    [
      'a suppression that was added',
      suppress,
      ['plan.json: 1 more row is suppressed than in the plan.', 'Recipients: 2'],
    ],
    [
      'another tariff',
      () => scene.write('accounts.yaml', accounts.replace('0.10', '0.12')),
      ['account sandbox: "rates.0.price" has changed', 'Estimated cost: 0.36 AUD; in the plan 0.30 AUD.'],
    ],
    [
      'another service',
      () => scene.write('accounts.yaml', accounts.replace('_URL}', '_URL}/api/v2.03')),
      ['account sandbox: "baseUrl" has changed'],
    ],
    [
      'another attached file',
      () => scene.write('note.txt', 'all is lost'),
      ['note.txt: The attached file has changed since the plan.'],
    ],
    [
      'a changed byte of the plan file',
      async () => {
        const path = join(scene.folder, 'plan.json');
        await writeFile(path, (await readFile(path, 'utf8')).replace('"requests":3', '"requests":4'));
      },
      ['The file was changed after `volley plan` made it'],
    ],
    ['a file that is no plan', () => scene.write('plan.json', '{}'), ['This is no plan file']],
  ])('because of %s', async (_, change, texts) => {
    await plan();
    await change();
    await expectRefusal(...texts);
  });

  test('because a message within contacts.notWithin reached a recipient meanwhile', async () => {
    await scene.write('campaign.yaml', campaign.replace('  country', '  notWithin: 7d\n  country'));
    await plan();
    await scene.write('one.csv', 'mobile,name,code\n0412000003,Cid,B\n');
    expect(await call('run', 'campaign.yaml', '--contacts', 'one.csv')).toMatchObject({ code: 0 });
    const { code, stderr } = await run();
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(
        '1 more row got a message within "contacts.notWithin" than in the plan.',
      ),
    });
    expect(await recipients()).toEqual(['3']);
  });

  test('because a SendTime has passed meanwhile', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19);
    const timed = campaign.replace('  ChargeCode', `  SendTime: "${soon}"\n  TimeZone: UTC\n  ChargeCode`);
    await scene.write('campaign.yaml', timed.replace(/window: .*\n/, ''));
    await plan();
    const { code, stderr } = await scene.command(['run', '--plan', 'plan.json'], {
      now: () => new Date(Date.now() + 2 * 3_600_000),
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('Rows whose SendTime is past, or empty: 4; in the plan 0.'),
    });
  });

  test('because another run has read the file of its pattern meanwhile', async () => {
    await scene.write('inbox/one.csv', contacts);
    await scene.write('campaign.yaml', campaign.replace('contacts.csv', '"inbox/*.csv"'));
    await plan();
    expect(await call('run', 'campaign.yaml')).toMatchObject({ code: 0 });
    expect(await run('--again')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('plan.json: Earlier runs have read the contact files of the plan'),
    });
    expect(await recipients()).toEqual(['1', '2', '3']);
    expect(await call('plan', 'campaign.yaml', '--out', 'other.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is nothing to plan.'),
    });
  });

  test('because it is older than a day', async () => {
    await plan();
    const { code, stderr } = await scene.command(['run', '--plan', 'plan.json'], {
      now: () => new Date(Date.now() + 25 * 3_600_000),
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('a plan can be run for 24 hours'),
    });
  });

  test.each([
    [['campaign.yaml'], 'name no campaign'],
    [['--contacts', 'contacts.csv'], 'exclude each other'],
    [['--limit', '1'], 'exclude each other'],
    [['--test-to', '0499000111'], 'exclude each other'],
  ])('with %j', async (words, text) => {
    await plan();
    expect(await run(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
    expect(await recipients()).toEqual([]);
  });

  test('of two runs of one plan that start at the same moment, one sends', async () => {
    await plan();
    const ended = await Promise.all([run('--again'), run('--again')]);
    expect(ended.map(({ code }) => code).toSorted()).toEqual([0, 2]);
    expect(await recipients()).toEqual(['1', '2', '3']);
  });
});

test('contacts from standard input cannot be planned for later', async () => {
  const words = ['plan', 'campaign.yaml', '--contacts', '-', '--out', 'plan.json'];
  expect(await scene.command(words, { input: contacts })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Put them into a file'),
  });
});

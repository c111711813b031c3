import { beforeEach, describe, expect, test } from 'vitest';
import { emptyLedger } from '../support/empty-ledger.ts';
import { plannedRun } from '../support/planned-run.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { type Ended, startVolley } from '../support/volley.ts';
import { accountEnvironment, accountsYaml, noRepeatCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene();

const rows = [
  ['0412000001', 'Ann', 'A', 'ann@row.example'],
  ['wrong', 'Wim', 'A', 'wim@row.example'],
  ['0412000002', 'Bob', 'B', 'bob@row.example'],
  ['0412000003', 'Cid', 'A', 'cid@row.example'],
  ['0412000004', 'Dan', 'A', 'dan@row.example'],
] as const;

/** What may never leave, in the notation of any field. */
const addressesOfRows = rows.flatMap(([mobile, , , mail]) => [mail, mobile.slice(1)]);

const mine = '0499000111';
const myNumber = '+61499000111';

const priced = `${accountsYaml}    rates: [{ channel: sms, unit: part, price: "0.10", currency: AUD }]\n`;

beforeEach(async () => {
  await emptyLedger(scene.ledger.pool);
  await scene.write('accounts.yaml', priced);
  await scene.write('campaign.yaml', noRepeatCampaignYaml);
  await scene.write('contacts.csv', ['mobile,name,code,mail', ...rows.map((row) => row.join())].join('\n'));
});

const call = (...words: string[]): Promise<Ended> => scene.command(words);

async function testRun(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await call('run', 'campaign.yaml', '--json', '--test-to', ...words);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: expect.anything() });
  return JSON.parse(stdout).run;
}

const recipients = async (): Promise<readonly string[]> =>
  (await scene.journal()).flatMap((line) => line.recipients).toSorted();

async function expectNoAddressOfARow(): Promise<void> {
  const journal = JSON.stringify(await scene.journal());
  expect(addressesOfRows.filter((address) => journal.includes(address))).toEqual([]);
}

describe('what a test sends', () => {
  test('the first valid rows go with their values to one’s own addresses in turn, and equal addresses get a request each', async () => {
    const run = await testRun(mine, '0499000222', '--limit', '3');
    const sent = (await scene.journal()).map(({ recipients: [to], message }) => [to, message?.fields]);
    expect(sent).toMatchObject([
      [myNumber, { Message: 'Hello [[Custom1]]', ChargeCode: 'A' }],
      ['+61499000222', { Message: 'Hello [[Custom1]]', ChargeCode: 'B' }],
      [myNumber, { Message: 'Hello [[Custom1]]', ChargeCode: 'A' }],
    ]);
    await expectNoAddressOfARow();
    const names = (await scene.journal()).map(({ message }) => message?.destinations[0]?.['Custom1']);
    expect(names).toEqual(['Ann', 'Bob', 'Cid']);
    expect(JSON.parse((await call('status', run, '--json')).stdout)).toMatchObject({
      kind: 'test',
      contacts: { read: 4, invalid: 1, duplicate: 0, suppressed: 0 },
      recipients: { total: 3, accepted: 3 },
    });
  });

  test('a test is sent at once, without the send time of the campaign', async () => {
    const timed = noRepeatCampaignYaml.replace(
      'message:\n',
      'message:\n  SendTime: "2099-01-01T10:00"\n  TimeZone: New Zealand\n',
    );
    await scene.write('campaign.yaml', timed);
    const planned = await call('plan', 'campaign.yaml', '--test-to', mine);
    expect(planned.stdout).toContain('  at once     without SendTime, TimeZone\n');
    await testRun(mine);
    const [line] = await scene.journal();
    expect(line?.message?.fields).toMatchObject({ Message: 'Hello [[Custom1]]' });
    expect(line?.message?.fields).not.toHaveProperty('SendTime');
    expect(line?.message?.fields).not.toHaveProperty('TimeZone');
  });

  test('without a limit, each of one’s own addresses gets one row', async () => {
    await testRun(mine, '0499 000 222', '0499000111');
    expect(await recipients()).toEqual([myNumber, '+61499000222']);
  });

  test.each([
    [
      'email',
      `channel: email
contacts: { file: contacts.csv, columns: { Recipient: mail } }
message:
  EmailSubject: "For [[name]]"
  MessagePlain: Hello
  CCEmail: archive@own.example
  ReplyTo: "[[mail]]"
  SMTPFrom: "[[mail]]"
  From: "[[name]]"
  FromEmail: sender@own.example
`,
      'me@own.example',
      { From: 'Ann', FromEmail: 'sender@own.example', EmailSubject: 'For Ann', MessagePlain: 'Hello' },
      'SMTPFrom, CCEmail, ReplyTo: a copy or an answer',
    ],
    [
      'sms',
      `channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: mobile } }
message: { Message: "Hello", SMSEmailReply: "[[mail]]", FromNumber: "[[mobile]]" }
`,
      mine,
      { Message: 'Hello' },
      'FromNumber, SMSEmailReply: a copy or an answer',
    ],
    [
      'tts',
      `channel: tts
contacts: { file: contacts.csv, country: AU, columns: { Recipient: mobile } }
message:
  MessageToPeople: "Hello"
  CallerID: "[[mobile]]"
  Keypads: [{ Tone: 1, RouteNumber: "[[mobile]]" }, { Tone: 2, RouteNumber: "0293744000" }]
`,
      mine,
      { MessageToPeople: 'Hello' },
      'keypads     call your first number',
    ],
  ])(
    'no %s field with an address of a row reaches the service',
    async (channel, yaml, address, fields, words) => {
      const accounts = accountsYaml.replace('rest-2.02', 'rest-1.04');
      const calls = accounts
        .replace('authToken', 'sender: me@own.example\n    apiKey')
        .replace('json', 'xml');
      await scene.write('accounts.yaml', channel === 'tts' ? calls : accountsYaml);
      await scene.write('campaign.yaml', `campaign: fields\naccount: sandbox\n${yaml}`);
      expect((await call('plan', 'campaign.yaml', '--test-to', address)).stdout).toContain(words);
      await testRun(address, '--limit', '2');
      const journal = await scene.journal();
      expect(journal).toHaveLength(2);
      expect(journal[0]?.message?.fields).toMatchObject(fields);
      await expectNoAddressOfARow();
      const routes = journal[0]?.message?.keypads.map(({ RouteNumber }) => RouteNumber);
      expect(routes).toEqual(channel === 'tts' ? [myNumber, '+61293744000'] : []);
    },
  );

  test('the ledger keeps no address and no file of the rows, and the test needs no approval and no open window', async () => {
    const hour = (new Date().getUTCHours() + 12) % 24;
    const window = `window: { from: "${hour}:00", to: "${hour}:30", timeZone: Etc/UTC }\n`.replaceAll(
      /"(\d):/g,
      '"0$1:',
    );
    await scene.write(
      'campaign.yaml',
      `${noRepeatCampaignYaml}${window}approval: required\nnotify: [{ on: [completed], command: [/bin/true] }]\n`,
    );
    const run = await testRun(mine);
    const { pool } = scene.ledger;
    const { rows: kept } = await pool.query(
      `SELECT c.*, (SELECT count(*)::integer FROM contact_file_pieces) AS pieces,
              (SELECT count(*)::integer FROM notifications) AS notifications
       FROM contents c WHERE run_id = $1`,
      [run],
    );
    expect(kept).toMatchObject([{ addresses: [myNumber], pieces: 0, notifications: 0 }]);
    expect(addressesOfRows.filter((address) => JSON.stringify(kept).includes(address))).toEqual([]);
  });

  test('a test whose process is killed goes on as a test', async () => {
    const many = Array.from(
      { length: 60 },
      (_, index) => `0412000${String(index).padStart(3, '0')},Name,A,m`,
    );
    await scene.write('contacts.csv', ['mobile,name,code,mail', ...many].join('\n'));
    await scene.replaceSandbox({ journal: `${scene.folder}/journal.jsonl`, latency: 50 });
    const env = accountEnvironment({ url: scene.databaseUrl }, scene.sandbox);
    const started = startVolley(['run', 'campaign.yaml', '--test-to', mine, '--limit', '60'], {
      cwd: scene.folder,
      env,
    });
    const run = await plannedRun(started);
    started.process.kill('SIGKILL');
    await started.ended;
    await call('resume', run);
    const status = JSON.parse((await call('status', run, '--json')).stdout);
    const { accepted, unknown } = status.recipients;
    expect({ kind: status.kind, sent: accepted + unknown }).toEqual({ kind: 'test', sent: 60 });
    expect(new Set(await recipients())).toEqual(new Set([myNumber]));
  });
});

describe('a test is refused', () => {
  test.each([
    ['an address of another channel', ['me@own.example'], 'A test cannot be sent to this address'],
    ['a landline for an SMS', ['0293744000'], 'A test cannot be sent to this address'],
    ['more than 100 rows', [mine, '--limit', '101'], 'at most 100 rows'],
    ['fixed contacts', [mine, '--of', 'any'], 'exclude each other'],
  ])('for %s', async (_, words, error) => {
    for (const command of ['plan', 'run'])
      expect(await call(command, 'campaign.yaml', '--test-to', ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(error),
      });
    expect(await recipients()).toEqual([]);
  });

  test('for an address of one’s own that is suppressed, for all SubAccounts or by a list of the campaign', async () => {
    await call(
      'suppress',
      'add',
      myNumber,
      '--channel',
      'sms',
      '--account',
      'sandbox',
      '--reason',
      'on leave',
    );
    await scene.write('never.csv', 'mobile\n0499000222\n');
    const listed = noRepeatCampaignYaml.replace('  country', '  suppressions: [never.csv]\n  country');
    await scene.write('campaign.yaml', listed);
    for (const command of ['plan', 'run']) {
      const { code, stderr } = await call(command, 'campaign.yaml', '--test-to', mine, '0499000222');
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('on leave') });
      expect(stderr).toContain('never.csv');
    }
    expect(await recipients()).toEqual([]);
  });
});

describe('a test is no run of the campaign', () => {
  test('it prevents no run, is no origin, has no rerun, no result file, and is not in the report of the campaign', async () => {
    await scene.write(
      'campaign.yaml',
      noRepeatCampaignYaml.replace('  country', '  notWithin: 7d\n  country'),
    );
    const tested = await testRun(mine);
    expect(await testRun(mine)).not.toBe(tested);
    for (const words of [
      ['run', 'campaign.yaml', '--of', tested],
      ['rerun', tested, '--state', 'failed'],
      ['report', 'contacts', tested],
    ])
      expect(await call(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining('test') });
    await scene.write('contacts.csv', `mobile,name,code,mail\n${mine},Me,A,m\n0412000001,Ann,A,a\n`);
    const { stdout } = await call('run', 'campaign.yaml', '--json');
    const { run, contacts } = JSON.parse(stdout);
    expect(contacts).toEqual({ read: 2, invalid: 0, duplicate: 0, suppressed: 0 });
    const campaigns = JSON.parse((await call('report', 'campaigns', '--json')).stdout);
    expect(campaigns.rows.map((row: { run: string }) => row.run)).toEqual([run]);
    expect((await call('delivery-reports', 'missing', '--json')).stdout).not.toContain(tested);
    expect((await call('delivery-reports', 'missing', tested, '--json')).stdout).toContain(tested);
  });

  test('a file that only tests have read is new to a pattern, and a test moves no file', async () => {
    await scene.write('inbox/one.csv', 'mobile,name,code\n0412000001,Ann,A\n');
    await scene.write(
      'campaign.yaml',
      noRepeatCampaignYaml.replace('file: contacts.csv', 'file: "inbox/*.csv"\n  moveTo: done'),
    );
    await testRun(mine);
    expect(await call('run', 'campaign.yaml')).toMatchObject({ code: 0 });
    expect(await recipients()).toEqual(['+61412000001', myNumber]);
  });

  test('lists, summaries and reports of runs call it a test', async () => {
    const run = await testRun(mine);
    for (const words of [
      ['runs'],
      ['status', run],
      ['report', 'run', run],
      ['report', 'failures', run],
      ['report', 'recipient', myNumber],
    ])
      expect((await call(...words)).stdout).toContain('test (test)');
    expect(JSON.parse((await call('runs', '--json')).stdout)).toMatchObject({ run, kind: 'test' });
    const { stdout } = await call('plan', 'campaign.yaml', '--test-to', mine);
    expect(stdout).toContain(`test        to ${myNumber}; nothing reaches the addresses of the rows`);
  });
});

test('billing adds up tests apart, and an invoice that charges them agrees and names them', async () => {
  await call('run', 'campaign.yaml');
  const run = await testRun(mine, '--limit', '2');
  const { rows: lines, totals } = JSON.parse(
    (await call('billing', 'report', '--by', 'ChargeCode', '--json')).stdout,
  );
  const figuresOf = (line: Record<string, unknown>) => {
    const { ChargeCode, kind, accepted, estimated } = line;
    return [ChargeCode, kind, accepted, estimated];
  };
  expect(lines.map(figuresOf)).toEqual([
    ['A', 'ordinary', 3, '0.30'],
    ['B', 'ordinary', 1, '0.10'],
    ['A', 'test', 1, '0.10'],
    ['B', 'test', 1, '0.10'],
  ]);
  expect(totals.map(figuresOf)).toEqual([
    ['Total', 'ordinary', 4, '0.40'],
    ['Total of tests', 'test', 2, '0.20'],
  ]);

  const { rows: sent } = await scene.ledger.pool.query<{ id: string; address: string }>(
    'SELECT message_id AS id, address FROM recipient_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
  const invoice = sent.map(({ id, address }, index) => `${id},${address},${index === 0 ? '0' : '0.10'},1`);
  await scene.write('invoice.csv', ['MessageID,Destination,Price,Units', ...invoice].join('\n'));
  const { stdout } = await call('billing', 'reconcile', '--invoice', 'invoice.csv', '--json');
  const reconciled = JSON.parse(stdout);
  const ofTest = reconciled.rows.filter((row: { run: string }) => row.run === run);
  expect(ofTest).toMatchObject([{ kind: 'other price', detail: 'a test; no price was reported' }]);
  expect(reconciled.totals.at(-1)).toMatchObject({ kind: 'Of them, tests', messageId: '2 lines' });
});

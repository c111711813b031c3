import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { sendPeer } from '../support/send-peer.ts';
import { accountsYaml } from '../support/workspace.ts';

const campaign = `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: NZ, columns: { Recipient: mobile } }
message: { Message: Hello, SubAccount: North, ChargeCode: "C-1" }
`;

const scene = useLedgerScene(
  {
    'accounts.yaml': accountsYaml,
    'campaign.yaml': campaign,
    'contacts.csv': 'mobile,name\n021 123 0001,Ann\n021 123 0002,Bob\n021 123 0003,Cid\n',
  },
  { VOLLEY_ACCOUNTS: 'accounts.yaml', VOLLEY_SANDBOX_TOKEN: 'any' },
);
let run = '';
let messageId = '';

beforeAll(async () => {
  await using service = await sendPeer(() => ({ kind: 'accepted' }));
  const env = { VOLLEY_SANDBOX_URL: service.url };
  const { stdout, stderr } = await scene.command(['run', 'campaign.yaml', '--json'], { env });
  expect(stderr).toContain('planned');
  run = JSON.parse(stdout).run;
  messageId = service.accepted()[0]?.messageId ?? '';
});

async function call(...words: string[]) {
  const { code, stdout, stderr } = await scene.command(words);
  const lines = () =>
    stdout
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return { code, stdout, stderr, lines };
}

function receive(...members: readonly object[]): Promise<void> {
  const at = { account: 'sandbox', method: 'POST', contentType: 'application/json', headers: {} } as const;
  return receiveDeliveryReports(
    scene.opened.ledger.pool,
    randomUUID(),
    members.map((each) => ({ ...at, receivedAt: new Date(), body: Buffer.from(JSON.stringify(each)) })),
  );
}

const success = { Type: 'SMS', Status: 'Success', Result: 'delivered', Detail: 'SMSParts:1', Price: '0.08' };

test('a replay reads delivery reports by the names and words of their account', async () => {
  await scene.workspace.write(
    'mapped.yaml',
    accountsYaml.replace(
      'timeouts:',
      'receiver: { fields: { Status: [state] }, statusWords: { lost: undelivered } }\n    timeouts:',
    ),
  );
  const lost = { Type: 'SMS', MessageID: 'mapped', Destination: '+64211230009', state: 'lost' };
  await receive(lost);
  await call('delivery-reports', 'replay');
  const [unread] = (await call('delivery-reports', 'list', '--state', 'unreadable', '--json')).lines();
  expect(unread.why).toBe('it has no Status');
  const env = { VOLLEY_ACCOUNTS: 'mapped.yaml' };
  expect((await scene.command(['delivery-reports', 'replay'], { env })).stdout).toBe(
    '1 delivery report replayed.\n',
  );
  const { lines } = await call('delivery-reports', 'list', '--json');
  expect(lines()).toMatchObject([{ state: 'unmatched', status: 'lost', outcome: 'undelivered' }]);
  await scene.opened.ledger.pool.query(
    'DELETE FROM unusual_delivery_reports; DELETE FROM inbox_waiting; DELETE FROM inbox_blocks',
  );
});

describe('delivery reports of a run', () => {
  test('missing delivery reports are listed oldest first, with the last status of each recipient', async () => {
    await receive({ ...success, MessageID: messageId, Destination: '+64211230002', Status: 'Pending' });
    await call('delivery-reports', 'replay');
    const { lines } = await call('delivery-reports', 'missing', '--json');
    expect(lines()).toMatchObject([
      { run, messageId, address: '+64211230001', lastStatus: null },
      { address: '+64211230002', lastStatus: 'Pending' },
      { address: '+64211230003', lastStatus: null },
    ]);
    expect((await call('delivery-reports', 'missing', '--older-than', '1h')).stdout).toBe(
      'No delivery report is missing.\n',
    );
  });

  test('a replay applies delivery reports that no process has read, and they are listed by their states', async () => {
    await receive(
      { ...success, MessageID: messageId, Destination: '+64211230001' },
      {
        ...success,
        MessageID: messageId,
        Destination: '+64211230001',
        Status: 'Failed',
        Result: 'Bad Number',
      },
      { ...success, MessageID: 'nobody-knows', Destination: '+64211230001' },
      { Type: 'SMSReply', MessageID: messageId, Destination: '+64211230001', Message: 'Thanks \u001b[31m' },
      { Type: 'Smoke' },
    );
    expect((await call('delivery-reports', 'replay', '--json')).lines()).toEqual([
      { replayed: 0, failed: 0 },
    ]);
    const { stdout } = await call('delivery-reports', 'list');
    for (const words of [
      'conflicting',
      'Bad Number',
      'unmatched',
      'nobody-knows',
      'Thanks',
      'it has no Destination',
    ])
      expect(stdout).toContain(words);
    expect(stdout).not.toContain('\u001b[31m');
    const { lines } = await call('delivery-reports', 'list', run, '--state', 'applied', '--json');
    expect(lines()).toMatchObject([
      { address: '+64211230001', outcome: 'delivered', price: '0.08', units: '1' },
    ]);
  });

  test('a replay reads applied delivery reports again only with --all, and changes nothing', async () => {
    const before = (await call('report', 'run', run, '--json')).stdout;
    expect((await call('delivery-reports', 'replay')).stdout).toBe('2 delivery reports replayed.\n');
    expect((await call('delivery-reports', 'replay', '--all', '--account', 'sandbox')).stdout).toBe(
      '6 delivery reports replayed.\n',
    );
    expect((await call('delivery-reports', 'replay', '--all', '--since', '2199-01-01')).stdout).toBe(
      '0 delivery reports replayed.\n',
    );
    expect((await call('report', 'run', run, '--json')).stdout).toBe(before);
  });

  test('conflicting delivery reports are counted in the report of the run, which names the command that lists them', async () => {
    const { stdout } = await call('report', 'run', run);
    expect(stdout).toContain('1 conflicting delivery report of 1 recipient, kept and not counted');
    const [, words = ''] = /`volley (delivery-reports list .*)`/.exec(stdout) ?? [];
    const { lines } = await call(...words.split(' '), '--json');
    expect(lines()).toMatchObject([{ state: 'conflicting', run, result: 'Bad Number' }]);
    const details = (await call('report', 'run', run, '--json')).lines();
    expect(details).toMatchObject([{ conflicts: { reports: 1, recipients: 1 } }]);
  });

  test('the history of a recipient runs from the row of the file to the price, with its delivery reports', async () => {
    const { stdout } = await call('report', 'recipient', '021 123 0001', '--country', 'NZ');
    const inOrder = [
      `+64211230001  run ${run} (night, sms)`,
      'from       contacts.csv line 2 ("021 123 0001")',
      'billed to  SubAccount North, ChargeCode C-1',
      `MessageID  ${messageId}`,
      'attempt 1: accepted (HTTP 200)',
      'report: Success; delivered; 1 unit; price 0.08; applied',
      'report: Failed, Bad Number; undelivered; 1 unit; price 0.08; conflicting',
      'reply: "Thanks',
      'delivered; 1 unit; price 0.08: delivered',
    ];
    let from = 0;
    for (const words of inOrder) {
      const found = stdout.indexOf(words, from);
      expect(found, `${words} in ${stdout}`).toBeGreaterThanOrEqual(from);
      from = found;
    }
    expect(stdout).not.toContain('\u001b[31m');
  });

  test('the histories of all recipients of a request are printed for its MessageID', async () => {
    const { lines } = await call('report', 'recipient', messageId, '--json');
    expect(lines()).toMatchObject([
      { address: '+64211230001', state: 'delivered', line: 2, file: 'contacts.csv' },
      { address: '+64211230002', state: 'accepted', reports: [{ state: 'unchanged', status: 'Pending' }] },
      { address: '+64211230003', state: 'accepted', attempts: [{ attempt: 1, httpStatus: 200 }] },
    ]);
  });

  test('a delivery report of an unknown message is not in the history, which names the command that lists it', async () => {
    const { stderr } = await call('report', 'recipient', '+64211230001');
    const [, words = ''] =
      /1 more delivery report is .*`volley (delivery-reports list .*)`/.exec(stderr) ?? [];
    const { lines } = await call(...words.split(' '), '--json');
    expect(lines().map(({ messageId, state }) => [messageId, state])).toContainEqual([
      'nobody-knows',
      'unmatched',
    ]);
    expect((await call('report', 'recipient', '+64211230002')).stderr).not.toContain('more delivery report');
  });

  test('delivery reports with an unreadable price are applied, and listed with the problem', async () => {
    await receive({ ...success, MessageID: messageId, Destination: '+64211230003', Price: '0,08' });
    await call('delivery-reports', 'replay');
    const { lines } = await call('delivery-reports', 'list', '--json');
    const [flawed] = lines().filter(({ state }) => state === 'applied');
    expect(flawed).toMatchObject({
      address: '+64211230003',
      price: null,
      why: 'its Price "0,08" is no decimal number',
    });
    expect((await call('report', 'recipient', '+64211230003')).stdout).toContain(
      'its Price "0,08" is no decimal',
    );
    expect((await call('delivery-reports', 'list', '--state', 'inbound')).stdout).not.toContain('0,08');
  });

  test('delivery reports are listed as CSV with the same figures, and no text that a spreadsheet computes', async () => {
    await receive({
      Type: 'SMSReply',
      MessageID: messageId,
      Destination: '+64211230003',
      Message: '=1+1,"x"\nNo',
    });
    await call('delivery-reports', 'replay');
    const words = ['delivery-reports', 'list', run, '--state', 'inbound', 'applied'];
    const rows: Record<string, string>[] = parse((await call(...words, '--csv')).stdout, { columns: true });
    const listed = (await call(...words, '--json')).lines();
    expect(rows.map((row) => row['Received (UTC)'])).toEqual(listed.map(({ receivedAt }) => receivedAt));
    expect(rows).toMatchObject([
      { State: 'applied', Address: '+64211230001', Price: '0.08', Units: '1', MessageID: messageId },
      { State: 'inbound', Address: '+64211230001', Reply: 'Thanks \u001b[31m', Price: '' },
      { State: 'applied', Address: '+64211230003', Why: 'its Price "0,08" is no decimal number' },
      { State: 'inbound', Address: '+64211230003', Reply: `'=1+1,"x"\nNo`, Run: run },
    ]);
    expect((await call(...words, '--csv', '--json')).code).toBe(2);
  });

  test('the history prints as many recipients as --limit allows, and notes that there are more', async () => {
    const two = await call('report', 'recipient', messageId, '--limit', '2', '--json');
    expect(two.lines()).toMatchObject([{ line: 2 }, { line: 3 }]);
    expect(two.stderr).toContain('There are more than these 2');
    expect((await call('report', 'recipient', messageId, '--limit', '3')).stderr).not.toContain('more');
  });
});

test.each([
  [['report', 'recipient', '021 999 9999', '--country', 'NZ'], '+64219999999'],
  [['report', 'recipient', 'a b'], 'a b'],
  [
    ['report', 'recipient', '12AB34CD'],
    'Searched as a MessageID; as a ChargeCode; as words of a row in a contact file; as a job number.',
  ],
  [['report', 'recipient', '+6421', '--limit', '0'], 'above 0'],
  [['delivery-reports', 'missing', 'nothing'], 'There is no such run'],
  [['delivery-reports', 'replay', '--since', 'yesterday'], 'or a time in UTC'],
  [['delivery-reports', 'list', '--state', 'lost'], 'applied'],
])('volley %j is refused with the mistake', async (words, said) => {
  const { code, stderr, stdout } = await call(...words);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(said);
});

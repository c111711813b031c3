import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PreparedCampaign, prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { collectBatches } from '../../support/collect.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { wav } from '../../support/wav.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const accounts = `accounts:
  main:
    interface: rest-2.02
    baseUrl: https://service.example
    authToken: \${TOKEN}
`;

const campaign = `campaign: test
account: main
channel: sms
contacts:
  file: lists/contacts.csv
  country: AU
  columns: { Recipient: phone }
message:
  Message: "Hi [[name]]"
`;

let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace({
    'night/campaign.yaml': campaign,
    'night/lists/contacts.csv': 'phone,name\n0458665290,Ann\nn/a,Bob\n',
    'accounts.yaml': accounts,
  });
});
afterEach(() => workspace[Symbol.asyncDispose]());

function prepare(environment: Record<string, string> = {}): Promise<PreparedCampaign> {
  return prepareCampaign('night/campaign.yaml', {
    workingFolder: workspace.folder,
    environment: { VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: 'secret-token', ...environment },
  });
}

const problems = (environment?: Record<string, string>) => problemsRejected(() => prepare(environment));

/** Replaces one text in the campaign file. */
const change = (from: string, to: string) =>
  workspace.write('night/campaign.yaml', campaign.replace(from, to));

describe('prepareCampaign', () => {
  test('a campaign and its files are read and checked, with paths relative to the campaign', async () => {
    const { campaign: read, account, composition, contacts } = await prepare();
    expect(read.value.campaign).toBe('test');
    expect(account).toMatchObject({ name: 'main', credentials: { authToken: 'secret-token' } });
    expect(composition.recipientColumn).toBe('phone');
    expect(await collectBatches(contacts)).toMatchObject([
      { kind: 'contact', line: 2, address: '+61458665290' },
      { kind: 'rejected', line: 3, column: 'phone' },
    ]);
  });

  test('absolute paths are accepted', async () => {
    await change('lists/contacts.csv', join(workspace.folder, 'night/lists/contacts.csv'));
    expect((await collectBatches((await prepare()).contacts)).length).toBe(2);
  });

  test('accounts come from campaigns/accounts.yaml unless VOLLEY_ACCOUNTS is set', async () => {
    expect(await problems({ VOLLEY_ACCOUNTS: '' })).toEqual([
      expect.stringMatching(
        /^campaigns\/accounts\.yaml: The accounts file cannot be read \(there is no folder campaigns\)\. .* is in no Volley project: .*VOLLEY_ACCOUNTS/,
      ),
    ]);
    await workspace.write('campaigns/accounts.yaml', accounts);
    expect((await prepare({ VOLLEY_ACCOUNTS: '' })).account.name).toBe('main');
  });
});

describe('numbers for call transfers', () => {
  const calls = (country: string, ...numbers: string[]): string => `campaign: test
account: main
channel: tts
contacts:
  file: lists/contacts.csv
  ${country}
  columns: { Recipient: phone }
message:
  MessageToPeople: Press a button
  Keypads:
${numbers.map((number, index) => `    - { Tone: ${index + 1}, RouteNumber: "${number}" }`).join('\n')}
`;

  beforeEach(async () => {
    await workspace.write(
      'night/lists/contacts.csv',
      [
        'phone,name,desk,land',
        '+61293744000,Ann,(02) 9374 4001,AU',
        '+6493090000,Bob,tel:09 309-0001,New Zealand',
        '+61293744002,Eve,ring me maybe,',
        '+61293744003,Flo,,',
        '',
      ].join('\n'),
    );
    await workspace.write(
      'accounts.yaml',
      accounts.replace('rest-2.02', 'rest-1.04').replace('authToken:', 'sender: me\n    apiKey:'),
    );
  });

  test('numbers from rows are read like recipients, in the country of their contact', async () => {
    await workspace.write(
      'night/campaign.yaml',
      calls('country: AU\n  countryColumn: land', '02 9374 4000', '[[desk|+61 2 9374 4009]]'),
    );
    const contacts = await collectBatches((await prepare()).contacts);
    const routes = contacts.map((contact) =>
      contact.kind === 'contact' ? contact.envelope.keypads.map(({ RouteNumber }) => RouteNumber) : contact,
    );
    expect(routes).toEqual([
      ['+61293744000', '+61293744001'],
      ['+61293744000', '+6493090001'],
      expect.objectContaining({
        line: 4,
        column: 'desk',
        detail: 'button 2: "ring me maybe" is not a phone number',
      }),
      ['+61293744000', '+61293744009'],
    ]);
  });

  test('constant numbers that are invalid are refused at their location before any contact is read', async () => {
    await workspace.write(
      'night/campaign.yaml',
      calls('where: []', 'ring me maybe', '02 9374 4000', '+61 2 9374 4000'),
    );
    expect(await problems()).toEqual([
      'night/campaign.yaml:11:31: "message.Keypads.0.RouteNumber": "ring me maybe" is not a phone number (no country code, and the campaign sets no "contacts.country").',
      'night/campaign.yaml:12:31: "message.Keypads.1.RouteNumber": "02 9374 4000" is not a phone number (no country code, and the campaign sets no "contacts.country").',
    ]);
  });
});

describe('prepareCampaign reports before reading on', () => {
  test('a campaign file that is missing or a folder is reported', async () => {
    const settings = { workingFolder: workspace.folder, environment: {} };
    expect(await problemsRejected(() => prepareCampaign('none.yaml', settings))).toEqual([
      'none.yaml: The campaign file cannot be read (it does not exist).',
    ]);
    expect(await problemsRejected(() => prepareCampaign('night', settings))).toEqual([
      'night: The campaign file cannot be read (it is a folder).',
    ]);
  });

  test('a campaign or accounts file that is not UTF-8 is reported with the line', async () => {
    const what = 'This line has bytes that are not UTF-8. Save the file as UTF-8.';
    await writeFile(
      join(workspace.folder, 'accounts.yaml'),
      Buffer.from(`# x\n# Zo\xeb\n${accounts}`, 'latin1'),
    );
    expect(await problems()).toEqual([`accounts.yaml:2: ${what}`]);
    await writeFile(
      join(workspace.folder, 'night/campaign.yaml'),
      Buffer.from(`${campaign}# Zo\xeb\n`, 'latin1'),
    );
    expect(await problems()).toEqual([`night/campaign.yaml:10: ${what}`]);
  });

  test('a contact file that is a folder is reported', async () => {
    await change('lists/contacts.csv', 'lists');
    expect(await problems()).toEqual(['night/lists: This is a folder; expected a CSV file.']);
  });

  test('a country without phone numbers is reported', async () => {
    await change('AU', 'ZZ');
    expect(await problems()).toEqual(['night/campaign.yaml:6:12: "ZZ" is not a country with phone numbers.']);
  });

  test('the country of an email campaign is not checked', async () => {
    await workspace.write('night/lists/contacts.csv', 'phone,name\na@example.com,Ann\n');
    await workspace.write(
      'night/campaign.yaml',
      campaign
        .replace('sms', 'email')
        .replace('Message:', 'EmailSubject: Hi\n  MessagePlain:')
        .replace('AU', 'ZZ'),
    );
    expect(await collectBatches((await prepare()).contacts)).toMatchObject([
      { kind: 'contact', address: 'a@example.com' },
    ]);
  });

  test('an unknown account and an unset secret are reported', async () => {
    expect(await problems({ TOKEN: '' })).toEqual([
      'accounts.yaml:5:16: Environment variable TOKEN is not set.',
    ]);
    await change('account: main', 'account: mian');
    expect(await problems()).toEqual([
      'night/campaign.yaml:2:10: accounts.yaml has no account "mian". Did you mean "main"? Its accounts: main.',
    ]);
  });

  test('a callback over http is reported, unless the service and the address are on this machine', async () => {
    await change('Message:', 'WebhookCallbackURL: http://127.0.0.1:8026/hook\n  Message:');
    expect(await problems()).toEqual([
      expect.stringMatching(/9:23: "message\.WebhookCallbackURL": .*https:/),
    ]);
    await workspace.write(
      'accounts.yaml',
      accounts.replace('https://service.example', 'http://127.0.0.1:8025'),
    );
    await prepare();
  });
});

describe('files to send', () => {
  const withFile = (lines: string) =>
    workspace.write('night/campaign.yaml', `${campaign}files:\n${lines}attachments: .\n`);

  test('files keep the configured name or their own', async () => {
    await workspace.write('night/docs/plan.pdf', '%PDF');
    await withFile('  - file: docs/plan.pdf\n  - { file: docs/../docs/plan.pdf, name: Your plan.pdf }\n');
    const { contacts, files } = await prepare();
    const [contact] = await collectBatches(contacts);
    const sent = [
      { path: 'docs/plan.pdf', name: 'plan.pdf' },
      { path: 'docs/../docs/plan.pdf', name: 'Your plan.pdf' },
    ];
    expect(contact).toMatchObject({ kind: 'contact', envelope: { files: sent } });
    expect((await files.read('docs/plan.pdf')).toString()).toBe('%PDF');
  });

  test('an attachment lies in a folder that the campaign or the account names, by default documents', async () => {
    for (const path of ['lists/beta.csv', 'id_rsa', 'prod.env', 'documents/plan.pdf', 'terms/a.pdf'])
      await workspace.write(`night/${path}`, 'text');
    const attach = async (path: string, folders = '') => {
      await workspace.write('night/campaign.yaml', `${campaign}files: [{ file: ${path} }]\n${folders}`);
      return (
        await prepare().then(
          () => 'sent',
          (error: Error) => error.message,
        )
      ).replace(/^.*cannot be sent: /, '');
    };
    const outside = 'it lies outside documents; "attachments" names the folders.';
    expect(await attach('documents/plan.pdf')).toBe('sent');
    expect(await attach('lists/beta.csv')).toBe(outside);
    expect(await attach('id_rsa')).toBe(outside);
    expect(await attach('prod.env')).toBe(outside);
    expect(await attach('documents/../id_rsa')).toBe(outside);
    expect(await attach('terms/a.pdf', 'attachments: [terms, documents]\n')).toBe('sent');
    await workspace.write(
      'accounts.yaml',
      accounts.replace('interface:', 'attachments: [terms]\n    interface:'),
    );
    expect(await attach('terms/a.pdf')).toBe('sent');
    expect(await attach('documents/plan.pdf')).toBe(
      'it lies outside terms; "attachments" names the folders.',
    );
    expect(await attach('documents/plan.pdf', 'attachments: documents\n')).toBe('sent');
    await workspace.write('accounts.yaml', accounts);
  });

  test('a file that is missing or a folder is reported at its location', async () => {
    await withFile('  - file: none.pdf\n');
    expect(await problems()).toEqual([
      'night/campaign.yaml:11:11: The file "none.pdf" cannot be sent: it does not exist.',
    ]);
    await withFile('  - file: lists\n');
    expect(await problems()).toEqual([
      'night/campaign.yaml:11:11: The file "lists" cannot be sent: it is a folder.',
    ]);
  });

  test.each(['../accounts.yaml', 'lists/../../accounts.yaml', '/etc/hostname', '.', '..'])(
    'a file outside the campaign folder is refused: %s',
    async (path) => {
      await withFile(`  - file: ${path}\n`);
      expect(await problems()).toEqual([
        expect.stringMatching(
          /^night\/campaign\.yaml:11:11: The file ".*" cannot be sent: it lies outside the campaign's folder\.$/,
        ),
      ]);
    },
  );

  test("a file in a folder whose name starts like the campaign folder's is refused", async () => {
    await workspace.write('nightly/secret.pdf', 'x');
    await withFile('  - file: ../nightly/secret.pdf\n');
    expect(await problems()).toEqual([expect.stringContaining('lies outside')]);
  });

  test('a link to a file outside the campaign folder is refused', async () => {
    await symlink(join(workspace.folder, 'accounts.yaml'), join(workspace.folder, 'night/plan.pdf'));
    await withFile('  - file: plan.pdf\n');
    expect(await problems()).toEqual([expect.stringContaining("lies outside the campaign's folder")]);
  });

  test('each contact can have its own files, and contacts without are rejected', async () => {
    await workspace.write('night/docs/Ann.pdf', '%PDF');
    await workspace.write('night/lists/contacts.csv', 'phone,name\n0458665290,Ann\n0491570156,Bob\n');
    await withFile('  - { file: "docs/[[name]].pdf", name: "For [[name]].pdf" }\n');
    expect(await collectBatches((await prepare()).contacts)).toMatchObject([
      { kind: 'contact', envelope: { files: [{ path: 'docs/Ann.pdf', name: 'For Ann.pdf' }] } },
      {
        kind: 'rejected',
        line: 3,
        column: 'files.0.file',
        detail: 'the file "docs/Bob.pdf" cannot be sent: it does not exist',
      },
    ]);
  });

  test('a recording that is not WAV, 16-bit, 8000 Hz is refused', async () => {
    const earlier = 'interface: rest-1.04\n    sender: ann\n    apiKey: ${TOKEN}';
    await workspace.write('accounts.yaml', accounts.replace('interface: rest-2.02', earlier));
    await writeFile(join(workspace.folder, 'night/hello.wav'), wav({ sampleRate: 11_025 }));
    await workspace.write(
      'night/campaign.yaml',
      campaign.replace('sms', 'voice').replace('Message: "Hi [[name]]"', 'MessageToPeople: hello.wav'),
    );
    expect(await problems()).toEqual([
      'night/campaign.yaml:9:20: The file "hello.wav" cannot be sent: expected a WAV file, PCM, 16-bit, 8000 Hz; got PCM, 16-bit, 11025 Hz.',
    ]);
    await writeFile(join(workspace.folder, 'night/hello.wav'), wav());
    await prepare();
  });

  test('files over 20 MiB together are refused', async () => {
    await writeFile(join(workspace.folder, 'night/big.pdf'), Buffer.alloc(11 * 1024 * 1024));
    await withFile('  - file: big.pdf\n  - file: big.pdf\n');
    expect(await problems()).toEqual([
      'night/campaign.yaml:12:11: The file "big.pdf" cannot be sent: the files are over 20 MiB together.',
    ]);
  });
});

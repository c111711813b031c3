import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { deleteRuns } from '../support/empty-ledger.ts';
import { freePort } from '../support/free-port.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({ 'campaign.yaml': smsCampaignYaml, 'contacts.csv': contactsCsv(3) });

/** Runs the campaign: nothing is sent, no run is made, and no stack is shown. */
async function refusal(env: Record<string, string> = {}, words = ['run', 'campaign.yaml']): Promise<string> {
  const { code, stdout, stderr } = await scene.command(words, { env });
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(await scene.journal()).toEqual([]);
  const { rows } = await scene.ledger.pool.query('SELECT run_id FROM runs');
  expect(rows).toEqual([]);
  return stderr.trim();
}

function campaign(from: string, to: string): Promise<void> {
  return scene.write('campaign.yaml', smsCampaignYaml.replace(from, to));
}

test('an unknown key is refused with its position and the nearest known key', async () => {
  await campaign('dispatch:', 'dispach:');
  expect(await refusal()).toMatch(/^campaign\.yaml:12:1: Unknown key "dispach".*"dispatch"/);
});

test('a repeated key is refused with its position', async () => {
  await campaign('channel: sms', 'channel: sms\nchannel: email');
  expect(await refusal()).toMatch(/^campaign\.yaml:5:1: .*unique/i);
});

test('a line with wrong indentation is refused with its own position', async () => {
  await campaign('  country: AU', '   country: AU');
  expect(await refusal()).toBe(
    'campaign.yaml:7:4: The indentation of this line does not fit the lines around it: it has 3 spaces; expected 2.',
  );
});

test('a campaign that does not exist is named in the error', async () => {
  expect(await refusal({}, ['run', 'nowhere.yaml'])).toMatch(/^nowhere\.yaml: .*does not exist/);
});

test('a contact file that does not exist is refused at the line that names it', async () => {
  await campaign('file: contacts.csv', 'file: missing.csv');
  expect(await refusal()).toMatch(/^campaign\.yaml:6:9: .*missing\.csv.*does not exist/);
});

test('a missing folder has another error than a missing file, and both quote the path of the user', async () => {
  expect(await refusal({}, ['run', 'nowhere/campaign.yaml'])).toBe(
    'nowhere/campaign.yaml: The campaign file cannot be read (there is no folder nowhere).',
  );
  expect(await refusal({}, ['run', 'campaign.yaml/x.yaml'])).toBe(
    'campaign.yaml/x.yaml: The campaign file cannot be read (campaign.yaml is a file, not a folder).',
  );
  await campaign('file: contacts.csv', 'file: in/box/contacts.csv');
  expect(await refusal()).toBe(
    'campaign.yaml:6:9: The contact file in/box/contacts.csv cannot be read (there is no folder in).',
  );
});

test('a path is shown as the user wrote it', async () => {
  const { folder } = scene;
  await scene.write('list.csv', 'mobile\tname,code\n');
  for (const [words, where] of [
    [['run', 'campaign.yaml', '--contacts', './list.csv'], './list.csv:1'],
    [['run', 'campaign.yaml', '--contacts', `${folder}/list.csv`], `${folder}/list.csv:1`],
    [['run', `${folder}/campaign.yaml`, '--contacts', 'list.csv'], 'list.csv:1'],
  ] as const)
    expect(await refusal({}, [...words])).toMatch(`${where}: The header has as many`);
  await scene.write('below/list.csv', 'id,town\n1,Perth\n');
  for (const shown of ['below/list.csv', './below/list.csv'])
    expect(await refusal({}, ['run', `${folder}/campaign.yaml`, '--contacts', shown])).toMatch(
      `: ${shown} has no column "mobile"`,
    );
  await campaign('file: contacts.csv', 'file: list.csv');
  expect(await refusal({}, ['run', `${folder}/campaign.yaml`])).toMatch(`${folder}/list.csv:1: The header`);
});

test('a column that the contact file does not have is refused with the nearest one', async () => {
  await campaign('Recipient: mobile', 'Recipient: mobil');
  expect(await refusal()).toMatch(/^campaign\.yaml:8:25: contacts\.csv has no column "mobil".*"mobile"/);
});

test('an invisible character is shown by its name', async () => {
  await scene.write('contacts.csv', contactsCsv(1).replace('mobile', 'mobile\u200b'));
  expect(await refusal()).toContain(
    'contacts.csv has no column "mobile". Did you mean "mobile<U+200B ZERO WIDTH SPACE>"? Its columns: mobile<U+200B ZERO WIDTH SPACE>, name, code.',
  );
});

test('a workbook that was copied in part is refused with advice', async () => {
  await scene.write(
    'contacts.csv',
    'PK\x03\x04\x14\0\x06\0\b\0[Content_Types].xml\0PK\x03\x04xl/workbook.xml',
  );
  expect(await refusal()).toBe(
    'contacts.csv: The workbook ends too early. Check that it was copied completely.',
  );
});

test('an unknown placeholder is refused with its position', async () => {
  await campaign('[[name]]', '[[nam]]');
  expect(await refusal()).toMatch(/^campaign\.yaml:10:12: Unknown placeholder \[\[nam\]\].*"name"/);
});

test('an environment variable that is not set is refused at the line that needs it', async () => {
  const unset = 'accounts.yaml:6:16: Environment variable VOLLEY_SANDBOX_TOKEN is not set.\n';
  const set = 'Set VOLLEY_SANDBOX_TOKEN in the environment, or in';
  expect(await refusal({ VOLLEY_SANDBOX_TOKEN: '' })).toBe(`${unset}${set} .env, which does not exist.`);
  await scene.write('.env', 'OTHER=1\n');
  expect(await refusal({ VOLLEY_SANDBOX_TOKEN: '' })).toBe(`${unset}${set} .env, which was read.`);
});

test('a service that cannot be reached is named before a run is made', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  expect(await refusal({ VOLLEY_SANDBOX_URL: url })).toMatch(
    /^account sandbox: http:\/\/127\.0\.0\.1:\d+ cannot be reached/,
  );
});

test('a database that cannot be reached is named without its password', async () => {
  const port = await freePort();
  const said = await refusal({ DATABASE_URL: `postgres://volley:hush@127.0.0.1:${port}/volley` });
  expect(said).toMatch(/^Postgres at 127\.0\.0\.1:\d+\/volley: Cannot use the database/);
  expect(said).not.toContain('hush');
});

test('sandbox and serve refuse a port in use with the same words', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  const token = { VOLLEY_WEBHOOK_TOKEN: 'webhook-token-of-22-characters-or-more' };
  for (const command of ['sandbox', 'serve']) {
    expect(await refusal(token, [command, '--port', port])).toContain(
      `--port ${port}: Port ${port} is in use`,
    );
  }
  server.close();
});

test('an invalid number rejects its contact, with its line, and the other contacts are sent to', async () => {
  await scene.write('contacts.csv', 'mobile,name,code\n0412000001,A,C\nnot a number,B,C\n0412000003,D,C\n');
  const run = await scene.command(['run', 'campaign.yaml', '--json']);
  expect(run.code).toBe(0);
  const summary = JSON.parse(run.stdout);
  expect(summary).toMatchObject({ contacts: { read: 3, invalid: 1 }, requests: { accepted: 2 } });
  const report = await scene.command(['report', 'run', summary.run, '--json']);
  expect(JSON.parse(report.stdout).rejectedContacts).toEqual([
    {
      file: 'contacts.csv',
      line: 3,
      column: 'mobile',
      reason: 'invalid',
      detail: '"not a number" is not a phone number',
    },
  ]);
  await deleteRuns(scene.ledger.pool);
});

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { emptyLedger } from '../support/empty-ledger.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import type { Ended } from '../support/volley.ts';
import { noRepeatCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({ 'campaign.yaml': noRepeatCampaignYaml });

/** Seven rows: five recipients, one of them twice, and a number that is wrong. */
const contacts = `mobile,name,code
0412000001,Ann,A
0412000002,Bob,A
0412000001,Ann again,B
eve,Eve,A
0412000003,Cid,A
0412000004,Dan,B
0412000005,Eve,A
`;

beforeEach(async () => {
  await emptyLedger(scene.ledger.pool);
  await scene.write('contacts.csv', contacts);
});

const call = (...words: string[]): Promise<Ended> => scene.command(words);

const recipients = async (): Promise<readonly string[]> =>
  (await scene.journal()).flatMap((line) => line.recipients).map((address) => address.slice(-1));

test('a limited run sends to the first recipients, and a run with --of sends once to each of the others', async () => {
  const plan = JSON.parse((await call('plan', 'campaign.yaml', '--limit', '2', '--json')).stdout);
  const counts = { read: 7, invalid: 1, duplicate: 1, suppressed: 0, beyondLimit: 3 };
  expect(plan).toMatchObject({ contacts: counts, recipients: 2, requests: 2 });

  const first = await call('run', 'campaign.yaml', '--limit', '2', '--json');
  const { run, ...summary } = JSON.parse(first.stdout);
  expect(summary).toMatchObject({ contacts: counts, recipients: { total: 2 }, requests: { total: 2 } });
  expect(first.stderr).toContain(
    `3 recipients are beyond it; \`volley run campaign.yaml --of ${run}\` sends to them`,
  );
  expect((await call('status', run)).stdout).toContain(
    'contacts    7 read: 1 invalid, 1 duplicate, 3 left for a later run',
  );
  expect(await recipients()).toEqual(['1', '2']);

  expect(await call('run', 'campaign.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`\`volley run <campaign> --of ${run}\` sends to them`),
  });
  expect(await call('run', 'campaign.yaml', '--of', run, '--limit', '1')).toMatchObject({ code: 0 });
  expect(await call('run', 'campaign.yaml', '--of', run)).toMatchObject({ code: 0 });
  expect((await recipients()).toSorted()).toEqual(['1', '2', '3', '4', '5']);
});

test('the result file names the rows beyond the limit, apart from those that contacts.where excludes', async () => {
  const where = '  columns: { Recipient: mobile }\n  where: [{ column: code, equals: A }]';
  await scene.write('campaign.yaml', noRepeatCampaignYaml.replace('  columns: { Recipient: mobile }', where));
  const { run } = JSON.parse((await call('run', 'campaign.yaml', '--limit', '1', '--json')).stdout);
  const { stdout } = await call('report', 'contacts', run);
  const states = stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.split(',')[5]);
  expect(states).toEqual([
    'accepted',
    'beyond_limit',
    'filtered',
    'invalid',
    'beyond_limit',
    'filtered',
    'beyond_limit',
  ]);
});

test('guards of the campaign count the whole file, and budgets only what is sent', async () => {
  await scene.write(
    'campaign.yaml',
    noRepeatCampaignYaml.replace('  country', '  minRecipients: 5\n  country'),
  );
  expect(await call('run', 'campaign.yaml', '--limit', '1')).toMatchObject({ code: 0 });
  expect(await recipients()).toEqual(['1']);
});

test('a file that a pattern matched stays until the rest of it is sent, and no other run reads it', async () => {
  await scene.write('inbox/one.csv', contacts);
  await scene.write(
    'campaign.yaml',
    noRepeatCampaignYaml.replace('file: contacts.csv', 'file: "inbox/*.csv"\n  moveTo: done'),
  );
  const { run } = JSON.parse((await call('run', 'campaign.yaml', '--limit', '2', '--json')).stdout);
  expect(await call('run', 'campaign.yaml')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('There is nothing to run.'),
  });
  expect(await readdir(join(scene.folder, 'inbox'))).toEqual(['one.csv']);
  expect(await call('run', 'campaign.yaml', '--of', run)).toMatchObject({ code: 0 });
  expect(await readdir(join(scene.folder, 'inbox'))).toEqual([]);
  expect((await recipients()).toSorted()).toEqual(['1', '2', '3', '4', '5']);
});

test('a run without the limit is a repetition, also where each row has a file of its own', async () => {
  for (const name of ['Ann', 'Bob', 'Cid', 'Dan', 'Eve']) await scene.write(`letters/${name}.txt`, name);
  await scene.write('campaign.yaml', `${noRepeatCampaignYaml}files: [{ file: "letters/[[name]].txt" }]\n`);
  await scene.write('contacts.csv', contacts.replace('Ann again', 'Ann'));
  const { run } = JSON.parse((await call('run', 'campaign.yaml', '--limit', '2', '--json')).stdout);
  expect((await call('plan', 'campaign.yaml')).stdout).toContain(`repeats     Run ${run} `);
  expect(await call('run', 'campaign.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`\`volley run <campaign> --of ${run}\``),
  });
  expect(await recipients()).toEqual(['1', '2']);
});

test.each(['0', '-1', '1.5', 'ten'])('--limit %s is refused', async (limit) => {
  expect(await call('plan', 'campaign.yaml', '--limit', limit)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected a whole number'),
  });
});

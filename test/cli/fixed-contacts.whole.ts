import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyLedger } from '../support/empty-ledger.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import type { Ended } from '../support/volley.ts';
import { smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({ 'campaign.yaml': smsCampaignYaml });
let run = '';

/** Ann, Bob, and Cid twice; the numbers of Eve and Fay are wrong. */
const contacts = `mobile,name,code
0412000001,Ann,A
0412000002,Bob,A
0412000001,Ann again,B
0412000003,Cid,A
eve,Eve,A
0412000003,Cid again,B
04120000O6,Fay,A
`;

beforeEach(async () => {
  await emptyLedger(scene.ledger.pool);
  await scene.write('contacts.csv', contacts);
  ({ run } = JSON.parse((await call('run', 'campaign.yaml', '--json')).stdout));
});

const call = (...words: string[]): Promise<Ended> => scene.command(words);

async function messagesByNumber(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const journal = await scene.journal();
  for (const address of journal.flatMap(({ recipients }) => recipients))
    counts[address] = (counts[address] ?? 0) + 1;
  return counts;
}

const onceEach = (...last: number[]) =>
  Object.fromEntries(last.map((digit) => [`+6141200000${digit}`, 1] as const));

async function exportFixedContacts(of = run, ...options: string[]): Promise<string> {
  const { stdout } = await call('report', 'contacts', of, '--state', 'invalid,suppressed', ...options);
  const text = stdout.replace('eve,', '0412000005,').replace('04120000O6,', '0412000006,');
  await scene.write('left-out.csv', text);
  return text;
}

const runFixedContacts = (...options: string[]) =>
  call('run', 'campaign.yaml', '--contacts', 'left-out.csv', '--json', ...options);

test('rejected contacts are exported by reason, and duplicates only on request', async () => {
  const { stdout, stderr } = await call('report', 'contacts', run, '--state', 'invalid,suppressed');
  expect(stdout).toMatch(/eve.*invalid.*\n04120000O6.*invalid/);
  expect(stdout).not.toContain('duplicate');
  expect(stderr).toBe(
    'Rejected contacts: 2 invalid, 0 suppressed. Not exported: 2 duplicate (--state selects them).\n',
  );
  const all = await call('report', 'contacts', run, '--state', 'invalid,duplicate');
  expect(all.stdout.match(/duplicate/g)).toHaveLength(2);
  expect(all.stderr).toBe('Rejected contacts: 2 invalid, 2 duplicate.\n');
  const repeated = await call('report', 'contacts', run, '--state', 'invalid', '--state', 'duplicate');
  expect(repeated.stdout).toBe(all.stdout);
  expect(await call('report', 'contacts', run, '--state', 'none')).toMatchObject({ code: 2 });
});

describe('a run of fixed contacts', () => {
  test('a run of fixed contacts reaches only these, as its plan shows, and is refused when it is repeated', async () => {
    await exportFixedContacts(run, '--state', 'invalid,duplicate');
    const words = `fixed       contacts of run ${run}; excluded: 2 reached by run ${run}`;
    const planned = await call('plan', 'campaign.yaml', '--contacts', 'left-out.csv');
    expect(planned.stdout).toContain('4 read: 2 to send to, 0 invalid, 2 duplicate');
    expect(planned.stdout).toContain(words);
    expect(planned.stdout).toContain(`reached by run ${run}`);
    const { code, stdout, stderr } = await runFixedContacts();
    const { run: second, contacts: counts } = JSON.parse(stdout);
    expect([code, counts]).toEqual([0, { read: 4, invalid: 0, duplicate: 2, suppressed: 0 }]);
    expect(stderr).toContain(words);
    expect((await call('audit', second)).stdout).toContain(`of: ${run}`);
    const again = await runFixedContacts();
    expect([again.code, again.stdout]).toEqual([2, '']);
    const by = [run, second].toSorted().map((each) => `2 reached by run ${each}`);
    expect(again.stderr).toContain(`4 of 4 rows are duplicate (${by.join('; ')})`);
    expect(await messagesByNumber()).toEqual(onceEach(1, 2, 3, 5, 6));
  });

  test('a run of fixed contacts excludes recipients of its original run and of runs between, also after a changed number', async () => {
    await scene.write('left-out.csv', (await exportFixedContacts()).replace('0412000006', 'still wrong'));
    const second = JSON.parse((await runFixedContacts()).stdout).run;
    const text = await exportFixedContacts(second);
    const commas = ','.repeat(10);
    await scene.write(
      'left-out.csv',
      `${text.replace('still wrong', '0412000006')}0412000001,New,A${commas}\n0412000005,New,A${commas}\n`,
    );
    await runFixedContacts();
    expect(await messagesByNumber()).toEqual(onceEach(1, 2, 3, 5, 6));
  });

  test('a run of fixed contacts gets its original run from --of if the file lacks the columns of Volley', async () => {
    await scene.write('left-out.csv', 'mobile,name,code\n0412000001,Ann,A\n0412000005,Eve,A\n');
    expect(await runFixedContacts('--of', run)).toMatchObject({ code: 0 });
    expect(await messagesByNumber()).toEqual(onceEach(1, 2, 3, 5));
  });

  test('two runs of fixed contacts that start at the same moment reach each recipient once', async () => {
    await exportFixedContacts();
    const ends = await Promise.all([runFixedContacts(), runFixedContacts()]);
    expect(ends.map(({ code }) => code).toSorted()).toEqual([0, 2]);
    expect(await messagesByNumber()).toEqual(onceEach(1, 2, 3, 5, 6));
  });

  test('a run of fixed contacts excludes recipients that may have been reached, and sends to those that were not', async () => {
    const { pool } = scene.ledger;
    await createRequestRows(pool, run);
    await pool.query(`UPDATE requests SET state = 'in_doubt' WHERE run_id = $1 AND request = 1`, [run]);
    await pool.query(`UPDATE requests SET state = 'failed' WHERE run_id = $1 AND request = 2`, [run]);
    await scene.write('left-out.csv', 'mobile,name,code\n0412000001,Ann,A\n0412000002,Bob,A\n');
    const { stdout } = await runFixedContacts('--of', run);
    const next = JSON.parse(stdout).run;
    expect((await call('report', 'contacts', next, '--state', 'duplicate')).stdout).toContain(
      `may have been reached by run ${run}`,
    );
    expect(await messagesByNumber()).toEqual({ ...onceEach(1, 3), '+61412000002': 2 });
  });
});

test('a rerun excludes recipients that a run of fixed contacts has reached', async () => {
  await createRequestRows(scene.ledger.pool, run);
  await scene.ledger.pool.query(`UPDATE requests SET state = 'failed' WHERE run_id = $1 AND request = 2`, [
    run,
  ]);
  await scene.write('left-out.csv', 'mobile,name,code\n0412000002,Bob,A\n');
  await runFixedContacts('--of', run);
  const { code, stderr } = await call('rerun', run, '--state', 'failed');
  expect([code, stderr]).toEqual([2, expect.stringContaining('No recipient is failed')]);
  expect((await messagesByNumber())['+61412000002']).toBe(2);
});

test('contacts from a run of another campaign are sent to like any others, with a note', async () => {
  await call('report', 'contacts', run, '--state', 'accepted', '--out', `delivered-${run}.csv`);
  await scene.write('campaign.yaml', smsCampaignYaml.replace('campaign: test', 'campaign: follow-up'));
  const { code, stderr } = await call('run', 'campaign.yaml', '--contacts', `delivered-${run}.csv`);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`of run ${run} of another campaign`)]);
  expect(Object.values(await messagesByNumber())).toEqual([2, 2, 2]);
});

test('contacts from an unknown or purged run, and --of another campaign, are refused, also by plan', async () => {
  await scene.write('left-out.csv', (await exportFixedContacts()).replaceAll(run, '200101-other'));
  const words =
    'There is no run "200101-other" in this ledger, so Volley does not know which contacts it reached';
  expect(await runFixedContacts()).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(words),
  });
  const planned = await call('plan', 'campaign.yaml', '--contacts', 'left-out.csv');
  expect(planned).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  await scene.write('campaign.yaml', smsCampaignYaml.replace('campaign: test', 'campaign: other'));
  expect(await runFixedContacts('--of', run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`Run ${run} belongs to campaign "test", not to "other"`),
  });
  await scene.ledger.pool.query('UPDATE runs SET purged_at = now() WHERE run_id = $1', [run]);
  await scene.write('campaign.yaml', smsCampaignYaml);
  expect(await runFixedContacts('--of', run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('200101-other'),
  });
  await scene.write('left-out.csv', 'mobile,name,code\n0412000005,Eve,A\n');
  expect(await runFixedContacts('--of', run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`The contacts come from a purged run (${run})`),
  });
  expect(await scene.journal()).toHaveLength(3);
});

test('the result file has the delimiter and the encoding of the contact file, unless the operator asks otherwise', async () => {
  const latin1 = Buffer.from('mobile;name;code\r\n0412000001;Zo\u00eb;A\r\neve;Ren\u00e9;A\r\n', 'latin1');
  await writeFile(join(scene.folder, 'contacts.csv'), latin1);
  await scene.write(
    'campaign.yaml',
    smsCampaignYaml.replace('  country: AU', '  country: AU\n  encoding: windows-1252'),
  );
  const written = async (file: string, ...options: string[]) => {
    const { code } = await call(
      'report',
      'contacts',
      'latest',
      '--state',
      'invalid,suppressed',
      '--out',
      file,
      ...options,
    );
    expect(code).toBe(0);
    return readFile(join(scene.folder, file));
  };
  expect((await call('run', 'campaign.yaml')).code).toBe(0);
  const asRead = await written('as-read.csv');
  expect(asRead.toString('latin1')).toMatch(/^mobile;name;code;Volley Run;.*\neve;Ren\u00e9;A;/);
  const asked = await written('asked.csv', '--delimiter', 'tab', '--encoding', 'utf-8');
  expect(asked.toString()).toMatch(/^mobile\tname\tcode\tVolley Run\t.*\neve\tRen\u00e9\tA\t/);
  await writeFile(
    join(scene.folder, 'left-out.csv'),
    Buffer.from(asRead.toString('latin1').replace('eve;', '0412000009;'), 'latin1'),
  );
  const { code, stdout } = await runFixedContacts('--of', 'latest');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { recipients: { total: 1, accepted: 1 } }]);
  await scene.write('campaign.yaml', smsCampaignYaml);
});

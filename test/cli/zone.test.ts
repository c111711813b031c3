import { beforeAll, expect, test } from 'vitest';
import { createWorld, performStep } from '../support/billing-world.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';

const scene = useLedgerScene({
  'campaigns/night.yaml': `campaign: night
account: a
channel: sms
contacts: { file: c.csv }
message: { Message: x }
schedule: { at: [2099-01-15T02:30], timeZone: Europe/Berlin }
`,
});
let run: string;
beforeAll(async () => {
  const world = await createWorld(scene.opened.ledger, '2026-01-15T11:30:00Z');
  await performStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers: [{}],
    contacts: 2,
    chunkSize: 1,
    rates: null,
  });
  await performStep(world, { kind: 'send', run: 0, requests: 2, ends: ['accepted', 'in_doubt'] });
  const { rows } = await scene.opened.ledger.pool.query<{ run_id: string }>(
    `UPDATE runs SET created_at = '2026-01-15T11:30:00Z' RETURNING run_id`,
  );
  run = rows[0]?.run_id ?? '';
  await volley(['suppress', 'add', '+64211234567', '--channel', 'sms']);
});

const inAuckland = { width: undefined, colour: false, zone: 'Pacific/Auckland' };

const volley = (words: readonly string[]) => scene.command(words, { screen: inAuckland });

test('the times of a terminal are in its own time zone, or in the zone of --time-zone', async () => {
  const shown = (await volley(['runs'])).stdout;
  expect(shown).toContain('Planned (Pacific/Auckland)');
  expect(shown).toContain('2026-01-16 00:30:00');
  for (const words of [
    ['--time-zone', 'Asia/Kolkata', 'runs'],
    ['runs', '--time-zone=asia/kolkata'],
  ]) {
    const { stdout } = await volley(words);
    expect(stdout).toContain('Planned (Asia/Kolkata)');
    expect(stdout).toContain('2026-01-15 17:00:00');
  }
});

test('every command that prints times names their zone, and only that one', async () => {
  const commands = [
    ['runs'],
    ['resolve', run],
    ['delivery-reports', 'missing'],
    ['report', 'run', run],
    ['report', 'failures', run],
    ['suppress', 'list'],
    ['audit'],
    ['schedule', 'next'],
    ['--time-zone', 'Pacific/Auckland', 'schedule', 'next'],
  ];
  for (const words of commands) {
    const { code, stdout } = await volley(words);
    expect({ words, code, stdout }).toEqual({
      words,
      code: 0,
      stdout: expect.stringContaining('(Pacific/Auckland)'),
    });
    expect(stdout).not.toMatch(/UTC|\dZ\b/);
  }
  expect((await volley(['schedule', 'next'])).stdout).toContain('2099-01-15 14:30:00');
});

test('files for programs have UTC times in every zone', async () => {
  const planned = { createdAt: '2026-01-15T11:30:00.000Z' };
  expect(JSON.parse((await volley(['runs', '--json', '--time-zone', 'Asia/Kolkata'])).stdout)).toMatchObject(
    planned,
  );
  const csv = (await volley(['report', 'failures', run, '--format', 'csv'])).stdout;
  expect(csv).toContain('First (UTC)');
  const json = JSON.parse((await volley(['report', 'run', run, '--json'])).stdout);
  expect(json).toMatchObject({ timeZone: 'UTC' });
});

test('with --time-zone for the days of a report, all its times are in that zone', async () => {
  const campaigns = await volley(['report', 'campaigns', '--time-zone', 'Asia/Kolkata']);
  expect(campaigns.stdout).toContain('Planned (Asia/Kolkata)');
  expect(campaigns.stdout).not.toMatch(/Auckland|UTC/);
});

test('times in errors are in that zone too, except in quotations', async () => {
  await scene.opened.ledger.pool.query(`UPDATE runs SET purged_at = '2026-02-01T20:15:00Z'`);
  const { code, stderr } = await volley(['report', 'contacts', run, '--out', 'x.csv']);
  await scene.opened.ledger.pool.query('UPDATE runs SET purged_at = NULL');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('It was purged at 2026-02-02 09:15:00 Pacific/Auckland:'),
  ]);
  const quoted = '2026-02-01T20:15:00.000Z x';
  expect((await volley(['billing', 'report', '--from', quoted])).stderr).toContain(`got "${quoted}"`);
});

test('an unknown time zone is refused', async () => {
  expect(await volley(['runs', '--time-zone', 'Mars/Phobos'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected a time zone such as Pacific/Auckland or UTC'),
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordSchedules } from '../../src/engine/schedule/record-schedules.ts';
import { readScheduleFolder } from '../../src/engine/schedule/schedule-folder.ts';
import { startDueTicks, type TickResult } from '../../src/engine/schedule/start-ticks.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../support/notify-scene.ts';
import { type Ended, volleyInProcess } from '../support/volley.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

let scene: NotifyScene;
let env: Record<string, string>;
beforeAll(async () => {
  scene = await openNotifyScene();
  const { environment } = scene.settings;
  env = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(() => {
  scene.peer.calls.splice(0);
});

async function command(word: 'plan' | 'run', contacts: string, keys = 'country: AU'): Promise<Ended> {
  await scene.workspace.write('contacts.csv', contacts);
  const campaign = smsCampaignYaml.replace('country: AU', keys);
  await scene.workspace.write('campaign.yaml', `${campaign}notify:\n${webhookNotify('refused')}`);
  return volleyInProcess([word, 'campaign.yaml'], { cwd: scene.workspace.folder, env });
}

async function runs(): Promise<number> {
  const { rows } = await scene.opened.ledger.pool.query('SELECT FROM runs');
  return rows.length;
}

/** The error of plan and run; there is no run afterwards. */
async function refusal(contacts: string, keys?: string): Promise<string> {
  const before = await runs();
  const planned = await command('plan', contacts, keys);
  expect(scene.peer.calls).toEqual([]);
  const ran = await command('run', contacts, keys);
  expect([planned.code, planned.stdout, ran.code, ran.stdout]).toEqual([2, '', 2, '']);
  expect(ran.stderr).toContain(planned.stderr);
  expect(await runs()).toBe(before);
  return planned.stderr;
}

const header = 'mobile,name,code\n';
const rows = (...numbers: string[]): string => header + numbers.map((each) => `${each},Ann,C\n`).join('');

describe('a run without recipients', () => {
  test('a run without recipients is refused with the calling code of its numbers if their country is missing', async () => {
    const words = await refusal(rows('0412000001', '0412000002', '64211234567'), '');
    expect(words).toContain(
      'No recipient is left, so Volley makes no run: 3 of 3 rows are invalid (3 without a country code, and the campaign sets no "contacts.country"; 1 beginning with 64, the calling code of NZ). To allow an empty run, set "contacts.allowEmpty: true".',
    );
    expect(words).toContain('contacts.csv:2: "0412000001" is not a phone number');
    expect(scene.peer.calls.map(({ notification }) => notification)).toMatchObject([
      {
        type: 'run.refused',
        data: {
          campaign: 'test',
          schedule: null,
          contacts: { read: 3, invalid: 3, duplicate: 0, suppressed: 0 },
          recipients: 0,
          reason: expect.stringContaining('No recipient is left'),
        },
      },
    ]);
    expect(JSON.stringify(scene.peer.calls)).not.toContain('0412');
  });

  test('a run without recipients is refused if the file has only a header', async () => {
    expect(await refusal(header)).toMatch(
      /^campaign\.yaml:\d+:\d+: No recipient is left, so Volley makes no run: the contact files have a header and no row\./,
    );
  });

  test('a run without recipients is refused if contacts.where excludes every row', async () => {
    const where = 'where: [{ column: name, equals: Bob }]\n  country: AU';
    expect(await refusal(rows('0412000001'), where)).toContain('"contacts.where" excludes all rows (1)');
  });

  test('a run without recipients is refused if every recipient is suppressed', async () => {
    await scene.workspace.write('never.csv', 'mobile\n0412000001\n');
    const words = await refusal(rows('0412000001', '0412000001'), 'suppressions: [never.csv]\n  country: AU');
    expect(words).toContain('2 of 2 rows are suppressed');
  });
});

describe('contacts.allowEmpty', () => {
  test('contacts.allowEmpty lets a run without recipients complete', async () => {
    expect(await command('run', header, 'allowEmpty: true\n  country: AU')).toMatchObject({ code: 0 });
    expect(scene.peer.calls).toEqual([]);
  });

  test('contacts.allowEmpty does not accept a file with invalid rows only', async () => {
    const words = await refusal(rows('1', '2'), 'allowEmpty: true\n  country: AU');
    expect(words).toContain('More rows are invalid than "contacts.maxInvalid" allows (50%)');
  });

  test('contacts.allowEmpty is refused together with contacts.minRecipients', async () => {
    const { code, stderr } = await command('plan', header, 'allowEmpty: true\n  minRecipients: 5');
    expect([code, stderr]).toEqual([2, expect.stringContaining('exclude each other')]);
  });
});

describe('contacts.maxInvalid', () => {
  const twoOfThree = rows('0412000001', 'nonsense', 'more nonsense');

  test('contacts.maxInvalid is half of the rows by default', async () => {
    const words = await refusal(twoOfThree);
    expect(words).toContain(
      'More rows are invalid than "contacts.maxInvalid" allows (50%), so Volley makes no run: 2 of 3 rows are invalid (2 with an invalid phone number in "mobile").',
    );
    expect(await command('plan', rows('0412000001', 'nonsense'))).toMatchObject({ code: 0 });
  });

  test('contacts.maxInvalid can be a share or a number of rows', async () => {
    expect(await command('plan', twoOfThree, 'maxInvalid: 70%\n  country: AU')).toMatchObject({ code: 0 });
    expect(await command('plan', twoOfThree, 'maxInvalid: 2\n  country: AU')).toMatchObject({ code: 0 });
    expect(await refusal(twoOfThree, 'maxInvalid: 1\n  country: AU')).toContain('allows (1 row)');
    const { stderr } = await command('plan', twoOfThree, 'maxInvalid: some');
    expect(stderr).toContain('expected a share such as 50%, or a number of rows');
  });

  test('contacts.maxInvalid accepts a plan, which counts invalid rows by their problem', async () => {
    const { code, stdout } = await command('plan', rows('0412000001', '0412000002', 'nonsense', '', ''));
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(
        '\n  invalid     2 with an empty "mobile"; 1 with an invalid phone number in "mobile"\n',
      ),
    ]);
  });

  test('contacts.maxInvalid ignores rows without an address', async () => {
    expect(await command('plan', rows('0412000001', '', '', ''))).toMatchObject({ code: 0 });
    expect(await command('plan', rows('0412000001', '', ''), 'maxInvalid: 0\n  country: AU')).toMatchObject({
      code: 0,
    });
  });
});

test('contacts.minRecipients refuses a run with fewer recipients', async () => {
  expect(await refusal(contactsCsv(3), 'minRecipients: 4\n  country: AU')).toContain(
    'Only 3 recipients are left, and "contacts.minRecipients" is 4',
  );
  expect(await command('plan', contactsCsv(3), 'minRecipients: 3\n  country: AU')).toMatchObject({ code: 0 });
});

test('a tick whose run is refused is listed as failed, and notifies each target once for all its events', async () => {
  const { opened, workspace, settings, tools } = scene;
  const folder = `${workspace.folder}/scheduled`;
  await workspace.write('scheduled/contacts.csv', header);
  const targets = ['refused, missed', 'missed', 'refused', 'paused'].map(webhookNotify).join('');
  const schedule = 'schedule: { timeZone: UTC, cron: "0 * * * *" }';
  await workspace.write('scheduled/nightly.yaml', `${smsCampaignYaml}${schedule}\nnotify:\n${targets}`);
  const campaignSource = { folder: 'scheduled', settings, accountNamed: tools.accountNamed };
  const ends: TickResult[] = [];
  for (const time of ['2026-11-20T00:30:00Z', '2026-11-20T01:00:10Z']) {
    const context = { ...opened.context, now: () => new Date(time) };
    await recordSchedules(context, await readScheduleFolder(folder));
    await startDueTicks(context, campaignSource, (end) => ends.push(end));
  }
  expect(ends).toMatchObject([
    { kind: 'failed', reason: expect.stringContaining('the contact files have a header and no row') },
  ]);
  await scene.notifyAll({ campaigns: 'scheduled' });
  const reason = expect.stringContaining('the contact files have a header and no row');
  expect(scene.peer.calls.map(({ notification }) => notification).toSorted(byType)).toMatchObject([
    {
      type: 'run.refused',
      data: { campaign: 'test', schedule: 'nightly.yaml', contacts: { read: 0 }, reason },
    },
    { type: 'run.refused' },
    { type: 'schedule.missed', data: { schedule: 'nightly.yaml', times: 1, state: 'failed', reason } },
  ]);
});

const byType = (one: { type: string }, other: { type: string }): number => one.type.localeCompare(other.type);

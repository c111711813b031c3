import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ListedRun, listRuns } from '../../../src/ledger/runs/find.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  whenPlanned,
} from '../../support/dashboard-scene.ts';
import { accountsYaml, contactsCsv, noRepeatCampaignYaml, smsCampaignYaml } from '../../support/workspace.ts';

const named = (campaign: string, yaml = smsCampaignYaml): string =>
  yaml.replace('campaign: test', `campaign: ${campaign}`).replace('contacts.csv', `${campaign}.csv`);

const hostile = `<script>alert(1)</script>"'><img src=x> \u202eevil مدرسة 🎉`;

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene({
    files: {
      'accounts.yaml': `${accountsYaml}    limits: { requestsPerSecond: 50, confirmAboveRecipients: 1000 }
    rates:
      - { channel: sms, unit: part, price: "0.10", currency: AUD }
`,
      'campaigns/twenty.yaml': named('twenty', smsCampaignYaml.replace('concurrency: 4', 'concurrency: 1')),
      'campaigns/twenty.csv': contactsCsv(20_000),
      'campaigns/some.yaml': named('some'),
      'campaigns/some.csv': `${contactsCsv(40)}nonsense,Dan,C1\n0412000001,Again,C1\n`,
      'campaigns/mine.yaml': named('mine', noRepeatCampaignYaml),
      'campaigns/mine.csv': contactsCsv(30),
      'campaigns/hostile.yaml': named('hostile').replace(
        '"Hello [[name]]"',
        JSON.stringify(`${hostile} [[name]]`),
      ),
      'campaigns/hostile.csv': `mobile,name,code\n0412000001,"${hostile.replaceAll('"', '""')}",C1\n"${hostile.replaceAll('"', '""')}",Bob,C1\n`,
      'campaigns/late.yaml': `${named('late')}deadline: "2026-01-01T00:00"\ntimeZone: Australia/Sydney\n`,
      'campaigns/late.csv': contactsCsv(3),
    },
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

const runsOf = async (campaign: string): Promise<ListedRun[]> =>
  (await listRuns(scene.opened.ledger.knex, 1_000)).filter((run) => run.campaign === campaign);

describe('the page of a plan', () => {
  test('shows 20,000 recipients with cost and end, and starts them when their number is typed', async () => {
    const page = await scene.browse('/campaigns/twenty.yaml');
    await page.getByRole('link', { name: 'Start now' }).click();
    const start = page.getByRole('button', { name: 'Start the run' });
    await start.waitFor({ timeout: 30_000 });
    await page.getByText('2,000.00 AUD').waitFor();
    await page.getByText('Started now, it would end at').waitFor();
    await page.getByRole('article').getByText('Hello Name 0').waitFor();
    await page.getByLabel('Number of recipients').fill('2,000');
    await start.click();
    await page.getByRole('alert').getByText('Type the number of recipients: 20,000.').waitFor();
    expect(await runsOf('twenty')).toEqual([]);
    await page.getByLabel('Number of recipients').fill('20,000');
    await start.click();
    await page.getByText('The run is planned; workers send it.').waitFor({ timeout: 30_000 });
    const [run] = await runsOf('twenty');
    await (await scene.visitor('run')).send(`/runs/${run?.run}/cancel`, { reason: 'over' });
  });

  test('shows any row, and the rows that are left out by reason, also without JavaScript', async () => {
    const page = await scene.browse('/campaigns/some.yaml/start?row=37', { javaScript: false });
    await page.getByRole('article').getByText('Hello Name 36').waitFor();
    await page.getByText('invalid, column mobile', { exact: true }).click();
    await page.getByRole('cell', { name: '42', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Later ones' }).click();
    await page.getByRole('article').getByText('Hello Name 37').waitFor();
    await page.getByLabel(/Row \(1 to/).fill('42');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('article').getByText('No message: duplicate').waitFor();
  });

  test('shows hostile text of campaigns and contacts as text', async () => {
    const page = await scene.browse('/campaigns/hostile.yaml/start', { width: 320 });
    await page.getByRole('button', { name: 'Start the run' }).waitFor();
    await page.getByRole('article').getByText('<script>alert(1)</script>').first().waitFor();
    expect(await page.locator('main :is(script, img)').count()).toBe(0);
    await expectAccessible(page);
    const { text } = await (await scene.visitor('run')).get('/campaigns/hostile.yaml/start');
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test('of one person is not that of another, and a run that another started meanwhile is not repeated', async () => {
    const path = '/campaigns/mine.yaml/start';
    const [ann, bea] = [await scene.visitor('run'), await scene.visitor('run', { owner: 'bea' })];
    const [first, second] = [
      hiddenFields((await whenPlanned(ann, path)).text),
      hiddenFields((await whenPlanned(bea, path)).text),
    ];
    expect(first['plan']).not.toBe(second['plan']);
    const stolen = await bea.post(path, { ...second, plan: first['plan'] ?? '' });
    expect([stolen.status, stolen.text.includes('This plan is not kept any more')]).toEqual([422, true]);
    expect((await ann.post(path, first)).status).toBe(303);
    const repeated = await bea.post(path, second);
    expect(repeated.status).toBe(422);
    expect(repeated.text).toContain('has the same message for the same contacts');
    expect(await runsOf('mine')).toHaveLength(1);
  });

  test('is refused when an address of it was suppressed meanwhile, and says so', async () => {
    const path = '/campaigns/some.yaml/start';
    const ann = await scene.visitor('run');
    const form = hiddenFields((await whenPlanned(ann, path)).text);
    await scene.command(['suppress', 'add', '+61412000003', '--channel', 'sms', '--reason', 'asked']);
    const refused = await ann.post(path, form);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('1 more row is suppressed than in the plan.');
    expect(await runsOf('some')).toEqual([]);
  });
});

describe('a test', () => {
  test('sends the chosen row to the address of the person, and opens its run', async () => {
    const page = await scene.browse('/campaigns/some.yaml/start?row=7');
    await page.getByLabel('My address').fill('0498 765 432');
    await page.getByRole('button', { name: 'Send the row to me' }).click();
    await page.getByText('The run is planned; workers send it.').waitFor();
    const [run] = await runsOf('some');
    expect(run?.kind).toBe('test');
    const { rows } = await scene.opened.ledger.pool.query(
      'SELECT addresses, destinations FROM contents WHERE run_id = $1',
      [run?.run],
    );
    expect(rows[0].addresses).toEqual(['+61498765432']);
  });

  test('to an address that is none, or of a row that is invalid, is refused', async () => {
    const ann = await scene.visitor('run');
    const before = (await runsOf('some')).length;
    const form = /action="[^"]*\/test"[\s\S]*?<\/form>/.exec(
      (await whenPlanned(ann, '/campaigns/some.yaml/start')).text,
    )?.[0];
    const [csrf = '', key = ''] = ['csrf', 'key'].map(
      (name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(form ?? '')?.[1],
    );
    const send = (row: string, address: string) =>
      ann.post('/campaigns/some.yaml/start/test', { csrf, key, row, address });
    const wrong = await send('1', 'no address');
    expect([wrong.status, wrong.text.includes('A test cannot be sent to this address')]).toEqual([422, true]);
    expect((await send('41', '0498765432')).text).toContain('Row 41 is invalid');
    expect((await send('1000', '0498765432')).text).toContain('Row 1000 is not in the contact files');
    expect(await runsOf('some')).toHaveLength(before);
  });
});

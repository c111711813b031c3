import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRuns } from '../../../src/ledger/runs/find.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  signIn,
  whenPlanned,
} from '../../support/dashboard-scene.ts';
import { startInProcess } from '../../support/volley.ts';
import { smsCampaignYaml } from '../../support/workspace.ts';

const contacts = 200_000;

function manyContacts(): string {
  const rows = Array.from({ length: contacts }, (_, row) => `04${12_000_000 + row},Name ${row},C1`);
  return ['mobile,name,code', ...rows, ''].join('\n');
}

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene({
    files: {
      'campaigns/large.yaml': smsCampaignYaml
        .replace('campaign: test', 'campaign: large')
        .replace('contacts.csv', 'large.csv'),
      'campaigns/large.csv': manyContacts(),
    },
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

const path = '/campaigns/large.yaml/start';
const listed = async () =>
  (await listRuns(scene.opened.ledger.knex, 100)).filter(({ campaign }) => campaign === 'large');

let token: string;
let page: Page;

test('200,000 recipients are planned without JavaScript', async () => {
  token = await scene.tokenOf('run');
  page = await scene.browse(path, { token, javaScript: false });
  await page.getByLabel('Number of recipients').waitFor({ timeout: 60_000 });
  await page.getByText('200,000', { exact: false }).first().waitFor();
});

test('their plan is made anew by a process that does not have it, and nothing starts by itself', async () => {
  const form = hiddenFields((await whenPlanned(await signIn(scene.url, token), path)).text);
  expect(form['plan']).toMatch(/^[0-9a-f]{32}$/);
  const place = { cwd: scene.workspace.folder, env: scene.environment };
  const words = ['serve', '--no-receiver', '--port', '0', '--api-port', '0'];
  const restarted = startInProcess(words, place);
  await Promise.race([restarted.waitForText('Dashboard: '), restarted.ended]);
  try {
    const url = /^Dashboard: (\S+)\/$/m.exec(restarted.stderrSoFar())?.[1] ?? '';
    const person = await signIn(url, token);
    const { csrf = '' } = hiddenFields((await person.get('/zone')).text);
    const refused = await person.post(path, { ...form, csrf });
    expect([refused.status, refused.text.includes('This plan is not kept any more')]).toEqual([422, true]);
    const anew = hiddenFields((await whenPlanned(person, path)).text);
    expect(anew['plan']).not.toBe(form['plan']);
    expect(await listed()).toEqual([]);
  } finally {
    restarted.stop();
    await restarted.ended;
  }
});

test('they are started without JavaScript, by the plan that was made first', async () => {
  await page.getByLabel('Number of recipients').fill(String(contacts));
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.getByText('The run is planned; workers send it.').waitFor({ timeout: 60_000 });
  const [run] = await listed();
  await (await scene.visitor('run')).send(`/runs/${run?.run}/cancel`, { reason: 'over' });
});

test('the last of 200,000 rows is shown as soon as it is read, by the stream of the page', async () => {
  const another = await scene.browse(`${path}?row=${contacts}`);
  await another
    .getByRole('status')
    .getByText(/rows read|row read/)
    .waitFor({ timeout: 60_000 });
  await another.getByRole('article').getByText('Hello Name 199999').waitFor({ timeout: 60_000 });
  await another.getByRole('button', { name: 'Start the run' }).waitFor();
});

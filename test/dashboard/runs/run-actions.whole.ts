import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { findRun, listRuns } from '../../../src/ledger/runs/find.ts';
import { findProblems } from '../../support/accessibility.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  signIn,
  type Visitor,
  whenPlanned,
} from '../../support/dashboard-scene.ts';
import { startOverApi } from '../../support/start-over-api.ts';
import { contactsCsv, smsCampaignYaml } from '../../support/workspace.ts';

const slow = smsCampaignYaml
  .replace('concurrency: 4', 'concurrency: 1')
  .replace('campaign: test', 'campaign: slow');

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene({
    sandbox: { latency: 100 },
    files: {
      'campaigns/slow.yaml': slow.replace('contacts.csv', 'many.csv'),
      'campaigns/watched.yaml': `${smsCampaignYaml.replace('campaign: test', 'campaign: watched')}approval: required\n`,
      'campaigns/canary.yaml': `${smsCampaignYaml.replace('campaign: test', 'campaign: canary').replace('contacts.csv', 'many.csv')}canary: { recipients: 5, observe: 1s, promote: manual, abort: { unreported: 100% } }\n`,
      'campaigns/texts.yaml': `${smsCampaignYaml.replace('campaign: test', 'campaign: texts').replace('contacts.csv', 'many.csv')}variants:\n  - { name: plain, share: 2% }\n  - { name: other, share: 2%, message: { Reference: other } }\nuntil: winner\n`,
      'campaigns/many.csv': contactsCsv(400),
    },
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

/** The worker of the scene sends it. */
const start = async (campaign: string, owner = 'ann') =>
  startOverApi(scene.url, await scene.tokenOf('run', { owner }), campaign);

test('a run whose canary is within its limits waits on the start page, and is promoted with a reason on its page', async () => {
  const run = await start('canary.yaml');
  await expect.poll(() => stateOf(run), { timeout: 20_000 }).toBe('paused');
  const first = await scene.browse('/', { owner: 'bea' });
  await first.locator(`#waiting-${run}`).getByRole('link', { name: 'Promote' }).waitFor();
  const page = await scene.browse(`/runs/${run}`, { owner: 'bea' });
  expect(await page.locator('#decision').innerText()).toContain(
    'its canary is within its limits, and a person is to promote the run',
  );
  expect(await page.locator('#decisions').innerText()).toContain('canary waits');
  expect(await findProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'Promote', exact: true }).press('Enter');
  await page.getByLabel('Reason').fill('seen on my phone');
  await page.getByRole('button', { name: 'Promote the run' }).press('Enter');
  await page.getByText('The run is promoted. Workers send the rest.').waitFor();
  await expect.poll(() => stateOf(run), { timeout: 120_000 }).toBe('completed');
  expect((await auditOf(run))[0]).toBe('bea (dashboard): run promoted, done: seen on my phone');
  await page.goto(page.url());
  expect(await page.locator('#decisions').innerText()).toContain('seen on my phone');
  if (process.env['SHOT']) await page.screenshot({ path: process.env['SHOT'], fullPage: true });
});

test('a person chooses on the page of a run which variant the rest gets', async () => {
  const run = await start('texts.yaml');
  await expect.poll(() => stateOf(run), { timeout: 60_000 }).toBe('completed');
  const page = await scene.browse(`/runs/${run}`, { owner: 'bea' });
  await page.getByRole('link', { name: 'Promote', exact: true }).press('Enter');
  await page.getByLabel('other').check();
  await page.getByLabel('Reason').fill('it is shorter');
  expect(await findProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Promote the variant' }).press('Enter');
  await page.getByText('The rest gets variant other.').waitFor();
  expect((await auditOf(run))[0]).toBe('bea (dashboard): run promoted, done: it is shorter');
});

/** Both have the form open before either sends it. */
async function sendAtOnce(people: readonly Visitor[], path: string, reason: string) {
  const forms = await Promise.all(people.map(async (one) => hiddenFields((await one.get(path)).text)));
  return Promise.all(people.map((one, index) => one.post(path, { ...forms[index], reason })));
}

const stateOf = async (run: string) => (await findRun(scene.opened.ledger.knex, run))?.state;
const csrfIn = (page: string): string => /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
const auditOf = async (run: string) =>
  (await listAudit(scene.opened.ledger.pool, { run }, 20)).map(
    ({ who, how, action, outcome, details }) =>
      `${who} (${how}): ${action}, ${outcome}: ${details['reason'] ?? ''}`,
  );

describe('a run that is sent', () => {
  test('is paused, resumed and cancelled by the keyboard alone, and each reason is in the audit trail', async () => {
    const run = await start('slow.yaml');
    const page = await scene.browse(`/runs/${run}`, { owner: 'bea' });
    for (const [verb, reason, state] of [
      ['Pause', 'wrong text', 'paused'],
      ['Resume', 'the text is right', 'running'],
      ['Cancel', 'it is late', 'cancelled'],
    ] as const) {
      await page.getByRole('link', { name: verb, exact: true }).press('Enter');
      await page.getByText(/It concerns (at most )?\d+ recipients/).waitFor();
      expect(await findProblems(page)).toEqual([]);
      await page.getByLabel('Reason').press('KeyX');
      await page.getByLabel('Reason').fill(reason);
      await page.getByLabel('Reason').press('Enter');
      await page
        .getByRole('status', { name: 'State of the run' })
        .getByText(state, { exact: true })
        .waitFor();
    }
    expect(await stateOf(run)).toBe('cancelled');
    expect(await auditOf(run)).toEqual([
      'bea (dashboard): run cancelled, done: it is late',
      'bea (dashboard): run resumed, done: the text is right',
      'bea (dashboard): run paused, done: wrong text',
      'ann (api): run started, done: ',
      'ann (api): run planned, done: ',
    ]);
  });

  test('is paused once when two people pause it at once, and the second is shown what has changed', async () => {
    const run = await start('slow.yaml');
    const [ann, bea] = [await scene.visitor('run'), await scene.visitor('run', { owner: 'bea' })];
    const answers = await sendAtOnce([ann, bea], `/runs/${run}/pause`, 'stop');
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    expect(answers.find(({ status }) => status === 422)?.text).toContain('The run is paused already');
    await ann.send(`/runs/${run}/cancel`, { reason: 'over' });
  });

  test('is resumed once when two people resume it at once, and the second is shown what has changed', async () => {
    const run = await start('slow.yaml');
    const [ann, bea] = [await scene.visitor('run'), await scene.visitor('run', { owner: 'bea' })];
    await ann.send(`/runs/${run}/pause`, { reason: 'stop' });
    const answers = await sendAtOnce([ann, bea], `/runs/${run}/resume`, 'go on');
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    expect(answers.find(({ status }) => status === 422)?.text).toContain('The run is running already');
    expect((await auditOf(run)).filter((entry) => entry.includes('run resumed, done'))).toHaveLength(1);
    await ann.send(`/runs/${run}/cancel`, { reason: 'over' });
  });

  test('is neither shown with actions nor changed for a token that may only read, or is of another account', async () => {
    const run = await start('slow.yaml');
    const [reader, other] = [
      await scene.visitor('read'),
      await scene.visitor('admin', { accounts: ['other'] }),
    ];
    expect((await reader.get(`/runs/${run}`)).text).not.toContain(`/runs/${run}/pause`);
    for (const action of ['pause', 'resume', 'cancel', 'approve', 'rerun?only=failed']) {
      expect((await reader.get(`/runs/${run}/${action}`)).status).toBe(403);
      const csrf = csrfIn((await reader.get('/')).text);
      expect((await reader.post(`/runs/${run}/${action}`, { csrf, reason: 'x' })).status).toBe(403);
      expect((await other.get(`/runs/${run}/${action}`)).status).toBe(404);
    }
    expect((await other.get(`/runs/${run}`)).status).toBe(404);
    expect((await other.get('/')).text).not.toContain(run);
    expect(await stateOf(run)).toBe('running');
    await (await scene.visitor('run')).send(`/runs/${run}/cancel`, { reason: 'over' });
  });
});

describe('a run that waits for approval', () => {
  test('stands on top of the list, and another person approves it', async () => {
    const run = await start('watched.yaml');
    const page = await scene.browse('/', { owner: 'bea' });
    const waiting = page.getByRole('region', { name: /Waiting for a person/ });
    await waiting.getByRole('link', { name: new RegExp(run) }).press('Enter');
    await page.getByRole('link', { name: 'Approve' }).press('Enter');
    await page.getByText('It sends to 4 recipients').waitFor();
    await page.getByRole('article').first().getByText('Hello Name 0').waitFor();
    await page.getByLabel('Reason').fill('checked');
    await page.getByRole('button', { name: 'Approve the run' }).press('Enter');
    await page.getByText('The run is approved').waitFor();
    expect((await auditOf(run)).at(-1)).toContain('ann (api): run planned');
    expect(await auditOf(run)).toContain('bea (dashboard): run approved, done: checked');
  });

  test('is looked at, and not approved, by the person who planned it', async () => {
    const run = await start('watched.yaml');
    const planner = await scene.visitor('admin', { owner: 'ann' });
    const asked = await planner.get(`/runs/${run}/approve`);
    expect(asked.text).toContain('Another person must approve it');
    expect(asked.text).not.toContain('Approve the run');
    expect((await planner.get(`/runs/${run}/plan?request=999`)).text).toContain('aria-label="Request 4"');
    const answer = await planner.post(`/runs/${run}/approve`, { csrf: csrfIn(asked.text), reason: 'me' });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Another person must approve it');
    expect(await stateOf(run)).toBe('planned');
  });

  test('is approved with the scope approve, which shows neither tokens nor the audit trail', async () => {
    const run = await start('watched.yaml');
    const approver = await scene.visitor('approve', { owner: 'bea' });
    expect((await approver.get('/')).text).toContain(`/runs/${run}/approve`);
    expect((await (await scene.visitor('run')).get('/')).text).not.toContain(`/runs/${run}/approve`);
    for (const path of ['/tokens', '/audit']) expect((await approver.get(path)).status).toBe(403);
    expect((await approver.send(`/runs/${run}/approve`, { reason: 'good' })).status).toBe(303);
  });

  test('is not approved in a session whose token the planner made', async () => {
    const run = await start('watched.yaml');
    const planner = await scene.visitor('admin', { owner: 'ann' });
    const made = await planner.send('/tokens/new', {
      name: 'of-eve',
      owner: 'eve',
      scope: 'approve',
      accounts: '',
      expires: '1d',
    });
    const [token = ''] = /volley_[0-9a-f]+/.exec(made.text) ?? [];
    const eve = await signIn(scene.url, token);
    expect((await eve.get(`/runs/${run}/approve`)).text).toContain('who also made the token of eve');
    expect(
      (await eve.post(`/runs/${run}/approve`, { csrf: csrfIn((await eve.get('/')).text), reason: 'x' }))
        .status,
    ).toBe(422);
  });

  test('is approved once when two people approve it at once', async () => {
    const run = await start('watched.yaml');
    const people = await Promise.all(['bea', 'cyd'].map((owner) => scene.visitor('admin', { owner })));
    const answers = await sendAtOnce(people, `/runs/${run}/approve`, 'good');
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
  });
});

test('a run is sent again once, also when its form is sent twice at once', async () => {
  const run = await start('slow.yaml');
  const person = await scene.visitor('run');
  await person.send(`/runs/${run}/cancel`, { reason: 'late' });
  const path = `/runs/${run}/rerun?only=cancelled`;
  const held = `SELECT FROM slices WHERE run_id = $1 AND state = 'held'`;
  await expect.poll(async () => (await scene.opened.ledger.pool.query(held, [run])).rowCount).toBe(0);
  const before = (await listRuns(scene.opened.ledger.knex, 100)).length;
  const { text } = await whenPlanned(person, path);
  expect(text).toMatch(/to <strong>[1-9]\d* recipients/);
  expect(text).toContain('Recipient 1');
  const form = { ...hiddenFields(text), reason: 'again' };
  const answers = await Promise.all([1, 2].map(() => person.post(path, form)));
  const location = answers.find(({ status }) => status === 303)?.headers.get('location');
  const others = answers.filter(({ headers }) => headers.get('location') !== location);
  expect(others.map(({ text }) => text.includes('its run is being planned'))).toEqual(others.map(() => true));
  expect((await listRuns(scene.opened.ledger.knex, 100)).length).toBe(before + 1);
  const again = /\/runs\/([\w-]+)/.exec(location ?? '')?.[1];
  expect((await person.post(path, form)).headers.get('location')).toBe(location);
  expect((await whenPlanned(person, path)).text).toContain(
    'except suppressed ones, those of other reruns, and those beyond a cap',
  );
  expect((await listRuns(scene.opened.ledger.knex, 100)).length).toBe(before + 1);
  expect(await auditOf(again ?? '')).toContain('ann (dashboard): run planned, done: again');
  await person.send(`/runs/${again}/cancel`, { reason: 'over' });
});

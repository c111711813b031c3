import { afterAll, beforeAll, expect, test } from 'vitest';
import { pause } from '../../../src/engine/runs/stop-run.ts';
import { expectAccessible, findProblems } from '../../support/accessibility.ts';
import { type DashboardScene, openDashboardScene, whenPlanned } from '../../support/dashboard-scene.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';

const hostileNames = [
  '<script>alert(1)</script>"><img src=x onerror=alert(1)>',
  'evil\u202egnp.exe',
  'مدرسة تذكير',
  '🎉'.repeat(60),
  'W'.repeat(10_000),
];

let scene: DashboardScene;
let number = 0;
beforeAll(async () => {
  scene = await openDashboardScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

async function plan(campaign: string, createdAt = new Date()): Promise<string> {
  const run = aRun({ run: `listed-${++number}`, campaign, createdAt });
  return planContacts(scene.opened.ledger, run, [aContact(2)]);
}

test('without a run, the page says how to start one', async () => {
  const page = await scene.browse('/', { scope: 'run' });
  await page.getByText('There is no run yet').waitFor();
  expect(await findProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'a campaign' }).press('Enter');
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  await page.context().close();
});

test('an open page shows a run that begins to wait, and its person acts from there', async () => {
  const run = await plan('reminders');
  const page = await scene.browse('/', { scope: 'run' });
  await page.getByText('Nothing waits for a person.').waitFor();
  await pause(scene.opened.context, run, 'wrong text');
  await page.getByText('1 run waits for a person.').waitFor();
  await page.getByText('It is paused: wrong text.').waitFor();
  await page
    .getByRole('region', { name: 'Waiting for a person' })
    .getByRole('link', { name: 'Cancel' })
    .press('Enter');
  await page.getByText('It concerns 1 recipient that was not sent to yet: they get no message.').waitFor();
  await page.getByLabel('Reason').fill('no longer needed');
  await page.getByRole('button', { name: 'Cancel the run' }).press('Enter');
  await page.getByText('The run is cancelled.').waitFor();
  await page.context().close();

  const reader = await scene.visitor('read');
  const again = await plan('reminders');
  await pause(scene.opened.context, again, 'wrong text');
  const shown = (await reader.get('/')).text;
  expect(shown).toContain('It is paused: wrong text.');
  expect(shown).not.toMatch(new RegExp(`${again}/(resume|cancel|approve)`));
});

test('an action that the state of the run does not allow has no button', async () => {
  const run = await plan('over');
  const person = await scene.visitor('admin');
  await person.send(`/runs/${run}/cancel`, { reason: 'over' });
  for (const [action, why] of [
    ['pause', 'The run is cancelled already; there is nothing to stop.'],
    ['cancel', 'The run is cancelled already; there is nothing to stop.'],
    ['resume', 'The run is cancelled; there is nothing left to send.'],
    ['approve', 'It needs no approval.'],
    ['rerun?only=failed', 'No recipient of it is failed or rejected.'],
  ] as const) {
    const { text } = await whenPlanned(person, `/runs/${run}/${action}`);
    expect(text, action).toContain(why);
    expect(text, action).not.toContain('name="reason"');
  }
});

test('runs are found by their account and the days of their plan, in the zone of the person', async () => {
  const run = await plan('at night', new Date('2026-03-01T22:30:00Z'));
  const person = await scene.visitor('read');
  const isFound = async (query: string) => (await person.get(`/?${query}`)).text.includes(`/runs/${run}"`);
  const zone = async (name: string) => person.send('/zone', { zone: name });
  await zone('UTC');
  expect(await isFound('from=2026-03-01&to=2026-03-01')).toBe(true);
  expect(await isFound('from=2026-03-02&to=2026-03-05')).toBe(false);
  await zone('Pacific/Auckland');
  expect(await isFound('from=2026-03-01&to=2026-03-01')).toBe(false);
  expect(await isFound('from=2026-03-02&to=2026-03-02&account=sandbox')).toBe(true);
  expect(await isFound('from=2026-03-02&to=2026-03-02&account=other')).toBe(false);
  expect((await person.get('/?from=2026-02-31&to=x')).status).toBe(200);
});

test('of more runs than fit, all that wait are counted, and hostile names are text', async () => {
  const runs: string[] = [];
  for (let index = 0; index < 22; index++) runs.push(await plan(hostileNames[index % 5] ?? ''));
  for (const run of runs) await pause(scene.opened.context, run, `${hostileNames[0]} ${'x'.repeat(400)}`);
  const page = await scene.browse('/');
  for (const width of [320, 1_280]) {
    await page.setViewportSize({ width, height: 900 });
    await page.getByText('23 runs wait for a person.').waitFor();
    await page.getByText('3 more runs').waitFor();
    await expectAccessible(page);
    expect(await page.locator('main :is(script, img)').count()).toBe(0);
    // A long name leaves room for the state.
    const state = await page.locator('#runs tbody [data-title=State]').first().boundingBox();
    expect((state?.x ?? 0) + (state?.width ?? 0)).toBeLessThan(width);
  }
});

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRuns } from '../../../src/ledger/runs/find.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';
import { noRepeatCampaignYaml } from '../../support/workspace.ts';

/** Eight in the morning of the zone: the night has just ended. */
const zone = 'Pacific/Auckland';
const morning = new Date('2026-11-27T19:00:00Z');

let scene: DashboardScene;
let run: string;
beforeAll(async () => {
  scene = await openDashboardScene({
    words: ['--no-worker', '--no-schedules'],
    now: () => morning,
    files: {
      'campaigns/nightly.yaml': `${noRepeatCampaignYaml.replace('campaign: test', 'campaign: nightly')}schedule: { cron: "0 18 * * MON-FRI", timeZone: ${zone} }
`,
    },
  });
  const { pool, knex } = scene.opened.ledger;
  await scene.command(['run', 'campaigns/nightly.yaml']);
  run = (await listRuns(knex, 1))[0]?.run ?? '';
  await pool.query(`UPDATE runs SET created_at = '2026-11-27T12:00:00Z' WHERE run_id = $1`, [run]);
  await scene.command(['schedule', 'sync', '--campaigns', 'campaigns']);
  await pool.query(
    `
    INSERT INTO ticks (schedule, due_at, state, run_id, reason)
    SELECT 'nightly.yaml', $1::timestamptz - make_interval(days => day), CASE day WHEN 11 THEN 'started' ELSE 'skipped' END,
           CASE day WHEN 11 THEN $2 END, NULL::jsonb
    FROM generate_series(3, 11) AS day
    UNION ALL
    SELECT 'nightly.yaml', $1::timestamptz - interval '2 days', 'missed', NULL, '{"kind": "no_worker", "catchUpMilliseconds": 0}'
    `,
    [morning, run],
  );
});
afterAll(() => scene[Symbol.asyncDispose]());

const browse = (width: number, javaScript = true): Promise<Page> =>
  scene.browse('/', { width, height: 640, zone, javaScript });
const figuresOf = (page: Page, group: RegExp) =>
  page
    .getByRole('region', { name: group })
    .locator('dl > div')
    .evaluateAll((all) => all.map((it) => [...it.children].map(({ textContent }) => textContent).join(': ')));

test.each([320, 360, 1_280])(
  'at %d pixels, last night is read in its three figures without a click',
  async (width) => {
    const page = await browse(width);
    expect(await figuresOf(page, /^Last night: 1 run$/)).toEqual([
      'Sent: 4',
      'Delivered: 0.0 %',
      expect.stringMatching(/^Cost: /),
    ]);
    await page.getByText(`Planned 2026-11-27 18:00 to 2026-11-28 09:00 ${zone}`).waitFor();
    const box = await page.getByRole('region', { name: /^Last night/ }).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(640);
    await page
      .getByRole('region', { name: /^Last night/ })
      .getByRole('link', { name: '1 run' })
      .press('Enter');
    await page.getByText('Runs that were found').waitFor();
    expect(await page.locator('#runs tbody tr').count()).toBe(1);
    await page.context().close();
  },
);

test('what waits stands on one list, with the next step as a button', async () => {
  const page = await browse(360);
  const list = page.getByRole('region', { name: 'Waiting for a person' });
  await list.getByText('Of the scheduled runs of the last 7 days, 1 missed').waitFor();
  await expectAccessible(page);
  await list.getByRole('link', { name: 'the campaigns' }).first().press('Enter');
  await page
    .getByRole('region', { name: 'Due without a run' })
    .getByRole('link', { name: 'Start now' })
    .waitFor();
  await page.context().close();
});

test('on a phone the menu is behind one button, with and without JavaScript', async () => {
  for (const javaScript of [true, false]) {
    const page = await browse(360, javaScript);
    const link = page.getByRole('link', { name: 'Campaigns', exact: true });
    expect(await link.isVisible()).toBe(false);
    expect(await page.getByLabel('Run or campaign').isVisible()).toBe(false);
    await page.getByText('Menu', { exact: true }).press('Enter');
    await link.press('Enter');
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    await page.context().close();
  }
});

test('on a phone a filter opens with its button, and stays open where it finds', async () => {
  const page = await browse(360);
  await page.getByText('Find runs', { exact: true }).press('Enter');
  await page.getByLabel('Run or campaign').fill('nightly');
  await page.getByRole('button', { name: 'Find' }).press('Enter');
  await page.getByText('Runs that were found').waitFor();
  expect(await page.getByLabel('Run or campaign').inputValue()).toBe('nightly');
  await page.context().close();
});

test('what a person types into the filter stays while the page changes', async () => {
  const page = await browse(1_280);
  await page.getByLabel('Run or campaign').fill('half a na');
  const { knex, pool } = scene.opened.ledger;
  const [last] = await listRuns(knex, 1, { campaign: 'nightly' });
  await pool.query(`UPDATE runs SET campaign = 'renamed' WHERE run_id = $1`, [last?.run]);
  await page.getByText('renamed').waitFor();
  expect(await page.getByLabel('Run or campaign').inputValue()).toBe('half a na');
  await pool.query(`UPDATE runs SET campaign = 'nightly' WHERE run_id = $1`, [last?.run]);
  await page.context().close();
});

test('a schedule is in words, with its latest due times as marks that a screen reader reads', async () => {
  const page = await scene.browse('/campaigns', { zone });
  const row = page.getByRole('row', { name: /nightly\.yaml/ });
  await row.getByText('Every weekday at 18:00 Auckland time').waitFor();
  const marks = row.getByRole('list', { name: 'What came of the latest due times' }).getByRole('listitem');
  expect(await marks.count()).toBe(10);
  expect(await marks.last().textContent()).toMatch(/2026-11-26 08:00: missed$/);
  expect(await marks.first().getByRole('link').textContent()).toMatch(/: completed$/);
  await marks.first().getByRole('link').press('Enter');
  await page.waitForURL(`**/runs/${run}`);
  const listed = await scene.command(['schedule', 'list']);
  expect(listed.stdout).toContain('Every weekday at 18:00 Auckland time');
  await page.context().close();
});

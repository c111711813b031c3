import { afterAll, beforeAll, expect, test } from 'vitest';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { findProblems } from '../../support/accessibility.ts';
import { reportRecipients } from '../../support/billing-reports.ts';
import { awayUrl, cellsYaml, useCells } from '../../support/cells-scene.ts';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';

const cells = useCells();
let scene: DashboardScene;
beforeAll(async () => {
  const createdAt = new Date('2026-11-02T08:00Z');
  const north = await cells.send('north', { run: '261102-aaaaa', account: 'alfa', createdAt });
  const south = await cells.send('south', { run: '261103-bbbbb', account: 'charlie', createdAt });
  for (const [world, account] of [
    [north, 'alfa'],
    [south, 'charlie'],
  ] as const) {
    const report = { outcome: 'delivered', units: '1', price: '0.1' } as const;
    await reportRecipients(world.ledger.pool, [{ ...report, recipient: 0 }], createdAt, account);
  }
  await addSuppressions(south.ledger.pool, [
    { channel: 'sms', address: '+61400000002', subAccount: '', reason: '', source: 'operator', createdAt },
  ]);
  const environment = { ...cells.environment, WEST_READ_URL: awayUrl, VOLLEY_ACCOUNTS: 'accounts.yaml' };
  scene = await openDashboardScene({ files: { 'cells.yaml': cellsYaml }, environment });
});
afterAll(() => scene[Symbol.asyncDispose]());

test('the page of the cells shows runs, the month and a person of all cells, and names the one that is away', async () => {
  const person = await scene.visitor('read');
  const { status, text } = await person.get('/cells?month=2026-11&q=%2B61400000002');
  expect(status).toBe(200);
  expect(text).toContain('<a href="/cells" aria-current="page">Cells</a>');
  expect(text).toContain('Cell west is away, and what it knows is missing below');
  expect(text).toContain('href="https://north.example/runs/261102-aaaaa"');
  expect(text).toContain('href="https://south.example/runs/261103-bbbbb"');
  expect(/All cells, added up.*?<\/table>/s.exec(text)?.[0]).toMatch(/>20<.*>2<.*>0\.2</s);
  expect(text.match(/<td[^>]*>(?:<bdi>)?\+61400000002/g)).toHaveLength(2);
  expect(text).toContain('an operator');
  expect(text).not.toContain('its-password');
});

test('a person with a token for some accounts does not see the cells', async () => {
  const person = await scene.visitor('read', { accounts: ['sandbox'] });
  expect((await person.get('/cells')).status).toBe(403);
});

test('the page of the cells has no problems of accessibility', async () => {
  const page = await scene.browse('/cells?month=2026-11&q=%2B61400000002');
  expect(await findProblems(page)).toEqual([]);
});

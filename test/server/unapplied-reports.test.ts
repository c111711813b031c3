import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireStatus } from '../../src/engine/reporting/run-status.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createOperations } from '../../src/server/operations.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { type DashboardScene, openDashboardScene } from '../support/dashboard-scene.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { receiverOptions, token } from '../support/receiver.ts';

let scene: DashboardScene;
let run: string;
const lines: string[] = [];
/** In Postgres, which then refuses the whole statement, whatever the delivery report says. */
const broken = 'ALTER TABLE unusual_delivery_reports RENAME TO replaced';
beforeAll(async () => {
  scene = await openDashboardScene({ words: ['--no-receiver', '--no-worker'] });
  const { opened } = scene;
  run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  await opened.ledger.pool.query(broken);
  const logger = openLogger('info', 'info', { write: (line) => void lines.push(line) });
  const receiver = await startReceiver(opened.context, {
    ...receiverOptions(opened),
    logger,
    applierTimes: { logAgainAfter: 1_500 },
  });
  const answers = await Promise.all(
    Array.from({ length: 3 }, () =>
      fetch(`${receiver.url}/webhook/main/${token}`, { method: 'POST', body: '{}' }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  while (failures().length < 2) await sleep(20);
  await receiver.close();
  await opened.ledger.pool.query('ALTER TABLE replaced RENAME TO unusual_delivery_reports');
  await opened.ledger.pool.query(`UPDATE inbox_waiting SET due_at = '2026-11-27T01:00:00Z'`);
});
afterAll(() => scene[Symbol.asyncDispose]());

const failures = (): readonly Readonly<Record<string, unknown>>[] =>
  lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('delivery reports not applied'));

const said = /3 delivery reports wait to be applied since 2026-11-27 01:00/;

test('the log says again that no delivery report can be applied, and since when', () => {
  expect(failures()[1]).toMatchObject({
    level: 50,
    error: expect.stringContaining('unusual_delivery_reports'),
    since: expect.stringMatching(/^\d{4}-/),
  });
});

test('/readyz warns of delivery reports that are not applied', async () => {
  const operations = createOperations(
    scene.opened.context,
    createMetrics({ includeNode: false }),
    () => false,
  );
  expect(await operations.readiness()).toMatchObject({
    ready: true,
    warnings: [
      expect.stringContaining('3 delivery reports wait to be applied since 2026-11-27T01:00:00.000Z'),
    ],
  });
});

test('volley status says that delivery reports are not applied', async () => {
  const { stdout } = await scene.command(['status', run]);
  expect(stdout).toMatch(said);
  expect(await requireStatus(scene.opened.context, run)).toMatchObject({
    unappliedReports: { waiting: 3, since: new Date('2026-11-27T01:00:00Z'), failed: 0 },
  });
});

test('the pages of runs and of a run say that delivery reports are not applied', async () => {
  const person = await scene.visitor('read');
  for (const path of ['/', `/runs/${run}`])
    expect([path, (await person.get(path)).text]).toEqual([path, expect.stringMatching(said)]);
});

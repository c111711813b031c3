import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { receiveReports } from '../../src/ledger/reports/receive.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { startApplier } from '../../src/server/applier.ts';
import { observedMapping } from '../../src/wire/report-mapping.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
beforeEach(async () => {
  await opened.ledger.pool.query('DELETE FROM inbox_queue; DELETE FROM reports; DELETE FROM inbox');
});
afterAll(() => opened.close());

const logger = openLogger('silent', 'info');
const start = (lookEvery: number) =>
  startApplier(
    opened.context,
    { mappingOf: () => observedMapping, onApplied: () => undefined, onFailed: () => undefined },
    logger,
    lookEvery,
  );

async function receive(count: number): Promise<void> {
  const call = { account: 'main', method: 'POST', contentType: '', headers: {} } as const;
  const report = { ...call, receivedAt: new Date(), body: Buffer.from('senseless') };
  await receiveReports(
    opened.ledger.pool,
    randomUUID(),
    Array.from({ length: count }, () => report),
  );
}

const applied = async (): Promise<number> =>
  (await opened.ledger.pool.query('SELECT FROM reports')).rows.length;

test('what another process received, or what falls due later, is applied without a report that arrives', async () => {
  const applier = start(20);
  await receive(3);
  while ((await applied()) < 3) await sleep(10);
  await applier.stop();
});

test('an applier that is stopped finishes the batches under way, and leaves the rest in the inbox', async () => {
  await receive(5_000);
  const applier = start(60_000);
  applier.wake();
  while ((await applied()) === 0) await sleep(1);
  await applier.stop();
  const done = await applied();
  expect(done).toBeLessThan(5_000);
  const { rows } = await opened.ledger.pool.query('SELECT unnest(report_ids) FROM inbox_queue');
  expect(rows).toHaveLength(5_000 - done);
});

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { noSharing } from '../../src/domain/account-sharing.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { startApplier } from '../../src/server/applier.ts';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { emptyInbox } from '../support/receiver.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
beforeEach(() => emptyInbox(opened));

const logger = openLogger('silent', 'info');
const start = (lookEvery: number, onApplied: (reports: number) => void = () => undefined) =>
  startApplier(
    opened.context,
    { findMapping: () => observedMapping, sharing: noSharing, onApplied, onFailed: () => undefined },
    logger,
    { interval: lookEvery },
  );

async function receive(count: number, body = 'senseless'): Promise<void> {
  const call = { account: 'sandbox', method: 'POST', contentType: '', headers: {} } as const;
  const report = { ...call, receivedAt: new Date(), body: Buffer.from(body) };
  await receiveDeliveryReports(
    opened.ledger.pool,
    randomUUID(),
    Array.from({ length: count }, () => report),
  );
}

const applied = async (): Promise<number> =>
  (await opened.ledger.pool.query('SELECT FROM delivery_reports')).rows.length;

test('the applier applies delivery reports of other processes, and those due later, without a new arrival', async () => {
  const applier = start(20);
  await receive(3);
  while ((await applied()) < 3) await sleep(10);
  await applier.stop();
});

test('an applier that is stopped finishes its batches and leaves the rest in the inbox', async () => {
  await receive(5_000);
  const applier = start(60_000);
  applier.wake();
  while ((await applied()) === 0) await sleep(1);
  await applier.stop();
  const done = await applied();
  expect(done).toBeLessThan(5_000);
  const { rows } = await opened.ledger.pool.query('SELECT FROM waiting_reports');
  expect(rows).toHaveLength(5_000 - done);
});

test('an inbox that cannot be tended is logged as that', async () => {
  const lines: string[] = [];
  const applier = startApplier(
    opened.context,
    { findMapping: () => observedMapping, sharing: noSharing, onApplied: () => {}, onFailed: () => {} },
    openLogger('info', 'info', { write: (line) => lines.push(line) }),
    { interval: 20 },
  );
  await opened.ledger.pool.query('ALTER TABLE signed_calls RENAME TO hidden_calls');
  try {
    while (lines.length === 0) await sleep(10);
  } finally {
    await opened.ledger.pool.query('ALTER TABLE hidden_calls RENAME TO signed_calls');
    await applier.stop();
  }
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'inbox not tended, or outcomes not folded; trying again',
  ]);
});

test('delivery reports are counted and booked while more arrive than can be applied', async () => {
  const { pool } = opened.ledger;
  await createRequestRows(pool, await planContacts(opened.ledger, aRun(), [aContact(2)]));
  await pool.query(`UPDATE requests SET state = 'accepted', updated_at = now()`);
  const { rows } = await pool.query('SELECT message_id AS "MessageID" FROM request_states');
  await pool.query(`UPDATE runs SET state = 'running'`);
  const report = { ...rows[0], Type: 'SMS', Destination: '+61400000002', Status: 'Success', Price: '0.08' };
  await receive(1, JSON.stringify(report));
  const booked = async (): Promise<number> =>
    (await pool.query('SELECT coalesce(sum(delivered), 0)::integer AS delivered FROM billing_entries'))
      .rows[0].delivered;

  let counted = 0;
  const applier = start(20, (reports) => {
    counted += reports;
  });
  const pile = async (): Promise<number> =>
    (await pool.query('SELECT count(*)::integer AS entries FROM inbox_waiting')).rows[0].entries;
  // The inbox stays full in this time.
  for (let rounds = 0; rounds < 100 && (counted === 0 || (await booked()) === 0); rounds++) {
    while ((await pile()) < 12) await receive(1_000);
    applier.wake();
    await sleep(10);
  }
  expect({ counted: counted > 0, booked: await booked(), left: (await pile()) > 0 }).toEqual({
    counted: true,
    booked: 1,
    left: true,
  });
  await applier.stop();
});

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { applyInbox } from '../../../src/engine/delivery-reports/apply-inbox.ts';
import { requeueDeliveryReports } from '../../../src/ledger/delivery-reports/queue.ts';
import type { RawReport } from '../../../src/ledger/delivery-reports/report-content.ts';
import {
  expectFirstReportDecides,
  planAcceptedRun,
  receiveAll,
  shuffledReports,
} from '../../support/arrival-order.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { aDelivery, applyReadings } from '../../support/readings.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

/** Applies until nothing is due, and starts again when interrupted. */
async function apply(now = (): Date => new Date()): Promise<void> {
  for (;;) {
    try {
      if ((await applyInbox({ ...opened.context, now })) === 0) return;
    } catch {
      await sleep(5);
    }
  }
}

const query = (sql: string) => opened.ledger.pool.query(sql);

test('the delivery report that arrived first decides, although three appliers are interrupted', async () => {
  const { ledger } = opened;
  await receiveAll(ledger, shuffledReports(await planAcceptedRun(ledger, 400), 1), 1);
  const appliers = Promise.all([apply(), apply(), apply()]);
  for (let cuts = 0; cuts < 3; cuts++) {
    await sleep(15);
    await opened.breakConnections().catch(() => undefined);
  }
  await appliers;
  await apply();
  expect(await expectFirstReportDecides(ledger)).toBeGreaterThan(5);
});

test('the first report decides even if it matched nothing before the others were applied and all are read again', async () => {
  const { ledger } = opened;
  const reports = shuffledReports(await planAcceptedRun(ledger, 200), 2);
  // Like reports that arrive before their run exists.
  await query(`UPDATE runs SET account = 'elsewhere'`);
  await receiveAll(ledger, reports.slice(0, 150), 2);
  await apply();
  expect((await query(`SELECT FROM delivery_reports WHERE state <> 'unmatched'`)).rowCount).toBe(0);
  await query(`UPDATE runs SET account = 'main'`);
  await receiveAll(ledger, reports.slice(150), 3);
  await apply();
  const later = (): Date => new Date(Date.now() + 61_000);
  await Promise.all([apply(later), apply(later)]);
  expect(await expectFirstReportDecides(ledger)).toBeGreaterThan(2);
  await requeueDeliveryReports(ledger.pool, { all: true }, new Date());
  await Promise.all([apply(), apply()]);
  await expectFirstReportDecides(ledger);
});

test('appliers that read the same reports again with other outcomes never deadlock', async () => {
  const { pool } = opened.ledger;
  await receiveAll(opened.ledger, shuffledReports(await planAcceptedRun(opened.ledger, 100), 4), 4);
  await apply();
  const isDelivered = ({ report }: RawReport, round: number): boolean =>
    (Number(report) % 3 === 0) === (round % 2 === 0);
  for (let round = 0; round < 3; round++) {
    const read = (report: RawReport) => {
      const { MessageID, Destination } = JSON.parse(report.body.toString());
      const outcome = isDelivered(report, round) ? 'delivered' : 'undelivered';
      return aDelivery({ messageId: MessageID, address: Destination, outcome });
    };
    await query(
      'INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes) SELECT now(), report_id, report_id, 1, 1 FROM inbox_calls ORDER BY random()',
    );
    const applyAll = async (): Promise<void> => {
      while ((await applyReadings(pool, { limit: 20, parse: read })) > 0);
    };
    // A deadlock would reject.
    await Promise.all(Array.from({ length: 4 }, applyAll));
  }
  const { rows } = await query(`
    SELECT count(*)::integer AS wrong
    FROM recipient_outcomes o
    WHERE o.report_id <> (
      SELECT min(report_id) FROM delivery_reports k
      WHERE k.run_id = o.run_id AND k.request = o.request AND k.position = o.position
    )
  `);
  expect(rows).toEqual([{ wrong: 0 }]);
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { purge } from '../../src/engine/billing/purge.ts';
import { applyRetention } from '../../src/engine/billing/retention.ts';
import { tendInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { createReportStore } from '../../src/engine/delivery-reports/report-store.ts';
import type { FoldFence } from '../../src/ledger/delivery-reports/fold-inbox.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { planAcceptedRun } from '../support/arrival-order.ts';
import { openTestLedger } from '../support/ledger.ts';
import { withKey } from '../support/purges.ts';

const reports = Number(process.env['VOLLEY_TORTURE_REPORTS'] ?? 200_000);
const seed = Number(process.env['VOLLEY_TORTURE_SEED'] ?? 33);
const program = fileURLToPath(new URL('./apply-process.ts', import.meta.url));
const day = 86_400_000;

test(`a purge, new partitions and dropped ones lose none of ${reports} reports that arrive meanwhile, while three appliers are killed`, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const { pool } = opened.ledger;
  const count = async (from: string): Promise<number> =>
    (await pool.query(`SELECT count(*)::integer AS count FROM ${from}`)).rows[0].count;
  const old = await planAcceptedRun(opened.ledger, reports / 10);
  await pool.query(`UPDATE runs SET state = 'completed', finished_at = now() - interval '400 days'`);
  const present = await planAcceptedRun(opened.ledger, reports - reports / 10);

  // A day lasts a second, so that some weeks begin and end. It is long ago, so that what arrives is due.
  const begun = Date.now();
  const now = (): Date => new Date(begun - 2_000 * day + (Date.now() - begun) * (day / 1_000));
  const context = { ...withKey(opened), now };
  const store = createReportStore(context);
  let stored = 0;
  async function storeAll(named: typeof present): Promise<void> {
    for (let next = 0; next < named.length; ) {
      const size = 1 + Math.floor(600 * seededRandom('burst', seed, next));
      const calls = named.slice(next, next + size).map((report) =>
        store({
          account: 'main',
          receivedAt: now(),
          method: 'POST',
          contentType: 'application/json',
          headers: { host: 'hooks.example' },
          body: Buffer.from(JSON.stringify({ ...report, Type: 'SMS', Status: 'Success', Price: '0.08' })),
        }),
      );
      await Promise.all(calls);
      stored += calls.length;
      next += size;
    }
  }

  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program, opened.url, '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout ?? child, 'data');
    return child;
  };
  const children = [await start(), await start(), await start()];
  cleanUp.defer(() => children.forEach((child) => void child.kill('SIGKILL')));

  let arriving = true;
  let [kills, dropped, purged] = [0, 0, 0];
  const kill = async (): Promise<void> => {
    while (arriving || (await count('inbox_waiting')) > 0) {
      await sleep(100 + 900 * seededRandom('kill', seed, kills));
      children[kills % 3]?.kill('SIGKILL');
      children[kills % 3] = await start();
      kills++;
    }
  };
  const dropOld = async (): Promise<void> => {
    let fence: FoldFence | undefined;
    while (arriving) {
      fence = await tendInbox(context, fence);
      const retention = { recordsBefore: undefined, auditBefore: undefined };
      const before = new Date(now().getTime() - 7 * day);
      dropped += (await applyRetention(context, { ...retention, deliveryReportsBefore: before })).reports;
      await sleep(500);
    }
  };
  const purgeOld = async (): Promise<void> => {
    const limit = { before: new Date(Date.now() - 300 * day), alsoInDoubt: true };
    // It keeps a run while its reports are being booked.
    for (let runs = 0; runs === 0; await sleep(200)) {
      const done = await purge(context, limit, () => undefined);
      purged += done.reports;
      runs = done.runs;
    }
  };
  const arrive = async (): Promise<void> => {
    await storeAll(old);
    const purging = purgeOld();
    await storeAll(present);
    await purging;
    arriving = false;
  };
  await Promise.all([arrive(), dropOld(), kill()]);
  const partitions = await count('inbox_partitions');
  const kept = await count('inbox_calls');
  console.log({ stored, kept, dropped, purged, kills, partitions });
  expect(stored).toBe(reports);
  // Each has decided about its recipient, and is in the inbox, or was erased, or dropped.
  expect(await count('delivery_reports')).toBe(reports);
  expect(await count(`all_recipient_outcomes WHERE outcome = 'delivered'`)).toBe(reports);
  expect(kept + dropped + purged).toBe(reports);
  expect(dropped).toBeGreaterThan(0);
  expect(kills).toBeGreaterThan(3);
});

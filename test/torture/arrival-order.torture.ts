import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import {
  expectFirstReportDecides,
  planAcceptedRun,
  receiveAll,
  shuffledReports,
} from '../support/arrival-order.ts';
import { openTestLedger } from '../support/ledger.ts';

const recipients = Number(process.env['VOLLEY_TORTURE_RECIPIENTS'] ?? 20_000);
const program = fileURLToPath(new URL('./apply-process.ts', import.meta.url));

test(`the first delivery report of each of ${recipients} recipients decides, while three appliers in two processes are killed`, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const { ledger } = opened;
  const seed = Number(process.env['VOLLEY_TORTURE_SEED'] ?? 33);
  const reports = shuffledReports(await planAcceptedRun(ledger, recipients), seed);
  await receiveAll(ledger, reports, seed);

  const start = async (appliers: number): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program, opened.url, String(appliers)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout ?? child, 'data');
    return child;
  };
  const children = [await start(2), await start(1)];
  cleanUp.defer(() => children.forEach((child) => void child.kill('SIGKILL')));
  let kills = 0;
  while ((await ledger.pool.query('SELECT FROM inbox_waiting LIMIT 1')).rowCount !== 0) {
    await sleep(50 + 400 * seededRandom('kill', seed, kills));
    const victim = kills % 2;
    children[victim]?.kill('SIGKILL');
    children[victim] = await start(victim === 0 ? 2 : 1);
    kills++;
  }
  await expect
    .poll(async () => (await ledger.pool.query('SELECT FROM delivery_reports')).rowCount, { timeout: 60_000 })
    .toBe(reports.length);
  const conflicting = await expectFirstReportDecides(ledger);
  console.log({ recipients, reports: reports.length, conflicting, kills });
  expect(conflicting).toBeGreaterThan(recipients / 30);
  expect(kills).toBeGreaterThan(3);
});

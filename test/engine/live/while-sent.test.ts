import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKnownRun, readReported, readRunFigures } from '../../../src/engine/live/run-figures.ts';
import { summariseRun } from '../../../src/ledger/runs/summary.ts';
import { inSnapshot } from '../../../src/ledger/session.ts';
import { startTestSandbox } from '../../sandbox/start-test-sandbox.ts';
import { accountAt, execute } from '../../support/execute.ts';
import {
  aContact,
  anEnvelope,
  aRun,
  openTestLedger,
  planContacts,
  type TestLedger,
} from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

const unlimited = { milliseconds: Number.POSITIVE_INFINITY, monotonic: () => 0 };

test('while workers send a run of many slices, figures that follow it equal its summary in each snapshot', async () => {
  await using service = await startTestSandbox({ latency: 5, failRate: 0.05 });
  const { context, ledger } = opened;
  const contacts = Array.from({ length: 1_600 }, (_, index) => {
    // Requests of one to three recipients, in slices of a hundred requests.
    const envelope = anEnvelope({
      Message: 'Hello',
      Reference: `group ${Math.floor(index / ((index % 3) + 1))}`,
    });
    return aContact(index + 2, { envelope });
  });
  const definition = { dispatch: { concurrency: 8, retries: 2 } };
  const run = await planContacts(ledger, aRun({ chunkSize: 3, definition }), contacts);
  const known = createKnownRun();
  const kinds = new Set<string>();
  const compare = () =>
    inSnapshot(ledger.pool, async (client) => {
      const reported = await readReported(client, run);
      const figures = await readRunFigures(client, run, known, reported, unlimited);
      const summary = await summariseRun(client, run);
      expect([figures?.requests, figures?.recipients]).toEqual([summary?.requests, summary?.recipients]);
      const answered = figures?.ended.reduce((sum, { attempts }) => sum + attempts, 0) ?? 0;
      if (figures && figures.requests.planned > 0 && answered > 0) kinds.add('half sent');
      return figures;
    });
  let isSent = false;
  const sent = execute(context, run, accountAt(service.url)).finally(() => {
    isSent = true;
  });
  while (!isSent) await compare();
  await sent;
  const figures = await compare();
  expect(figures?.counted.of).toBeGreaterThan(5);
  expect(figures?.requests.in_doubt).toBeGreaterThan(0);
  expect(figures?.latency.answered).toBe(figures?.requests.total);
  expect([...kinds]).toEqual(['half sent']);
});

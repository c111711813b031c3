import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { inSnapshot } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { examples } from '../../support/examples.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const noReports = { delivered: 0, undelivered: 0, reportedUnsent: 0 };

async function expectKept(run: string): Promise<void> {
  await inSnapshot(opened.ledger.pool, async (client) => {
    await expectCountsKept(client, run);
    const summary = await summariseRun(client, run);
    const { totals } = await reportBilling(client, { ...allBilling, filter: { run: [run] } });
    const { delivered, undelivered, reportedUnsent } = totals[0] ?? noReports;
    const billed = { delivered, undelivered, reportedUnsent };
    expect({ ...noReports, ...summary, ...summary?.recipients }).toMatchObject(billed);
  });
}

test('after each step of any history, the counts and answers that are kept are right, and the reports that are billed are counted', async () => {
  const property = fc.asyncProperty(beginnings, steps, async (begin, history) => {
    const world = await createWorld(opened.ledger, begin);
    for (const step of history) {
      await performNextStep(world, step);
      if (step.kind === 'book') while (await bookPending(opened.ledger.pool));
      for (const run of world.runs) await expectKept(run);
    }
  });
  await fc.assert(property, examples(12));
});

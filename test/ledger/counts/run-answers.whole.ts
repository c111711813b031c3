import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { type RunAnswers, readRunAnswers } from '../../../src/ledger/counts/answers.ts';
import { describeSending, type Sending } from '../../../src/ledger/runs/describe-sending.ts';
import { summariseRun } from '../../../src/ledger/runs/summary.ts';
import { inSnapshot } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { examples } from '../../support/examples.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

const noReports = { delivered: 0, undelivered: 0, reportedUnsent: 0 };

async function expectSameAsReport(run: string): Promise<void> {
  await inSnapshot(opened.ledger.pool, async (client) => {
    await expectCountsKept(client, run);
    const summary = (await summariseRun(client, run)) ?? expect.fail('there is no run');
    const answers = await readRunAnswers(client, run);
    const sending = await describeSending(client, run, 'UTC', 0);
    expect(endsOf(answers)).toEqual(endsInReport(sending));
    expect(answers.latency.answered).toBe(sending.answerTimes.answered);
    const billing = { ...allBilling, filter: { run: [run] } };
    const { totals } = await reportBilling(client, billing);
    const { delivered, undelivered, reportedUnsent } = totals[0] ?? noReports;
    expect({ reportedUnsent: 0, ...summary, ...summary.recipients }).toMatchObject({
      delivered,
      undelivered,
      reportedUnsent,
    });
    for (const each of ['median', 'p95', 'p99'] as const) {
      const exact = sending.answerTimes[each];
      expect(Math.abs((answers.latency[each] ?? 0) - (exact ?? 0))).toBeLessThanOrEqual((exact ?? 0) / 10);
    }
  });
}

/** Attempts by result. */
function endsOf({ ended }: RunAnswers): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict, httpStatus, attempts } of ended) {
    const key = `${verdict} ${httpStatus}`;
    counts[key] = (counts[key] ?? 0) + attempts;
  }
  return counts;
}

function endsInReport({ ends }: Sending): Record<string, number> {
  return Object.fromEntries(
    ends
      .filter(({ verdict }) => verdict !== null)
      .map(({ verdict, httpStatus, attempts }) => [`${verdict} ${httpStatus}`, attempts]),
  );
}

test('after each step of any history, the counts and answers that are kept are right, and equal the report of the run', async () => {
  const property = fc.asyncProperty(beginnings, steps, async (begin, history) => {
    const world = await createWorld(opened.ledger, begin);
    for (const step of history) {
      await performNextStep(world, step);
      if (step.kind === 'book') while (await bookPending(opened.ledger.pool));
      for (const run of world.runs) await expectSameAsReport(run);
    }
  });
  await fc.assert(property, examples(12));
});

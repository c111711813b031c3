import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createKnownRun,
  type KnownRun,
  type RunFigures,
  readReported,
  readRunFigures,
} from '../../../src/engine/live/run-figures.ts';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { sumRunCosts } from '../../../src/ledger/billing/run-costs.ts';
import { describeSending, type Sending } from '../../../src/ledger/runs/describe-sending.ts';
import { summariseRun } from '../../../src/ledger/runs/summary.ts';
import { inSnapshot } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { examples } from '../../support/examples.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

const noReports = { delivered: 0, undelivered: 0, reportedUnsent: 0 };
const unlimited = { milliseconds: Number.POSITIVE_INFINITY, monotonic: () => 0 };

async function expectSameAsReport(run: string, known: KnownRun): Promise<void> {
  await inSnapshot(opened.ledger.pool, async (client) => {
    const reported = await readReported(client, run);
    const figures = await readRunFigures(client, run, known, reported, unlimited);
    const summary = await summariseRun(client, run);
    const sending = await describeSending(client, run, 'UTC', 0);
    expect([run, figures?.requests, figures?.recipients, reported.unsent]).toEqual([
      run,
      summary?.requests,
      summary?.recipients,
      summary?.reportedUnsent ?? 0,
    ]);
    // A late answer to an abandoned request changes nothing but its attempt, and is read with the slice's next change.
    if (figures?.requests.abandoned === 0) expect(endsOf(figures)).toEqual(endsInReport(sending));
    expect(figures?.latency.answered).toBe(sending.answerTimes.answered);
    const billing = { ...allBilling, filter: { run: [run] } };
    const { totals } = await reportBilling(client, billing);
    const costs = await sumRunCosts(client, run, 2);
    const { recipients, accepted, price, estimated, estimatedTax, unrated } = totals[0] ?? costs.total;
    expect(costs.total).toEqual({ recipients, accepted, price, estimated, estimatedTax, unrated });
    const { delivered, undelivered, reportedUnsent } = totals[0] ?? noReports;
    expect({ reportedUnsent: 0, ...summary, ...summary?.recipients }).toMatchObject({
      delivered,
      undelivered,
      reportedUnsent,
    });
    const { lines } = await reportBilling(client, { ...billing, by: ['SubAccount'] });
    expect(costs.subAccounts).toBeGreaterThanOrEqual(new Set(lines.map(({ values }) => values[0])).size);
    for (const each of ['median', 'p95', 'p99'] as const) {
      const exact = sending.answerTimes[each];
      expect(Math.abs((figures?.latency[each] ?? 0) - (exact ?? 0))).toBeLessThanOrEqual((exact ?? 0) / 10);
    }
  });
}

/** Attempts by result. */
function endsOf({ ended }: RunFigures): Record<string, number> {
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

test('after each step of any history, figures that were read before and after it equal the report of the run', async () => {
  const property = fc.asyncProperty(beginnings, steps, async (begin, history) => {
    const world = await createWorld(opened.ledger, begin);
    const known = new Map<string, KnownRun>();
    for (const step of history) {
      await performNextStep(world, step);
      if (step.kind === 'book') while (await bookPending(opened.ledger.pool));
      for (const run of world.runs) {
        const knownRun = known.get(run) ?? createKnownRun();
        known.set(run, knownRun);
        await expectSameAsReport(run, knownRun);
      }
    }
  });
  await fc.assert(property, examples(12));
});

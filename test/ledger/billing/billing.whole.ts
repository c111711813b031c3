import { Big } from 'big.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookRun } from '../../../src/engine/billing/billing.ts';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { closePeriod } from '../../../src/ledger/billing/close.ts';
import {
  type BillingDimension,
  type BillingQuery,
  billingDimensions,
  reportBilling,
} from '../../../src/ledger/billing/report.ts';
import { type PayerCost, readRunCosts } from '../../../src/ledger/billing/run-costs.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { expectLines, expectTotals } from '../../support/billing-compare.ts';
import { addUp, recount } from '../../support/billing-recount.ts';
import { type BillingStep, beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performNextStep, type World } from '../../support/billing-world.ts';
import { examples } from '../../support/examples.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const groupings = fc.shuffledSubarray([...billingDimensions]);
const zones = fc.constantFrom('UTC', 'Pacific/Auckland', 'America/St_Johns');

const report = (query: Partial<BillingQuery>) =>
  inTransaction(opened.ledger.pool, (client) => reportBilling(client, { ...allBilling, ...query }));

async function takeAll(world: World, history: readonly BillingStep[]): Promise<void> {
  for (const step of history) {
    await performNextStep(world, step);
    if (step.kind === 'book') while (await bookPending(opened.ledger.pool));
  }
}

test('every billing report equals a recount of raw attempts and delivery reports, however much is booked', async () => {
  const property = fc.asyncProperty(
    beginnings,
    steps,
    groupings,
    zones,
    async (begin, history, by, timeZone) => {
      const world = await createWorld(opened.ledger, begin);
      await takeAll(world, history);
      const { lines, totals } = await report({ by, timeZone });
      const counted = await recount(opened.ledger.pool, timeZone);
      expectLines(lines, addUp(counted, by));
      expectTotals(totals, addUp(counted, []));
    },
  );
  await fc.assert(property, examples(15));
});

test('a closed month stays the same, and later changes are corrections in the next month', async () => {
  const property = fc.asyncProperty(
    beginnings,
    steps,
    steps,
    groupings,
    async (begin, history, later, by) => {
      const world = await createWorld(opened.ledger, begin);
      const timeZone = 'Pacific/Auckland';
      await takeAll(world, history);
      world.now = new Date(world.now.getTime() + 35 * 24 * 3_600_000);
      const [period = '', next = ''] = monthsAround(begin);
      const closing = { period, timeZone, closedBy: 'ann' };
      const closed = await closePeriod(opened.ledger.pool, closing, world.now);
      expect(closed).toMatchObject({ kind: 'closed' });
      const query = { by, timeZone, until: `${next}-01T00:00` };
      const frozen = await report(query);
      await takeAll(world, later);
      expect(await report(query)).toEqual(frozen);

      const whole = await report({ by: [], timeZone });
      const counted = await recount(opened.ledger.pool, timeZone);
      expectTotals(whole.totals, addUp(counted, []));
    },
  );
  await fc.assert(property, examples(5));
});

/** Amounts without trailing zeros. Lines that cost nothing are left out: a payer's requests may have moved. */
function comparable(costs: readonly PayerCost[]) {
  const plain = costs.map(({ value, recipients, accepted, price, estimated, estimatedTax, unrated }) => [
    value,
    recipients,
    accepted,
    unrated,
    ...[price, estimated, estimatedTax].map((amount) => new Big(amount).toFixed()),
  ]);
  return new Set(plain.filter(([, ...figures]) => figures.some((each) => Number(each) !== 0)));
}

test('what a run costs as booked, in all and for each payer, is what the report says at every step of its sending', async () => {
  const property = fc.asyncProperty(beginnings, steps, async (begin, history) => {
    const world = await createWorld(opened.ledger, begin);
    for (const step of history) {
      await performNextStep(world, step);
      for (const run of world.runs) {
        await bookRun(opened.context, run);
        const { rowCount } = await opened.ledger.pool.query('SELECT FROM billing_changes WHERE run_id = $1', [
          run,
        ]);
        // What is reported before the answer is booked after it.
        if (rowCount !== 0) continue;
        const costs = await readRunCosts(opened.ledger.pool, run, 5);
        const reported = async (by: readonly BillingDimension[]) => {
          const { lines } = await report({ by, filter: { run: [run] } });
          return comparable(lines.map(({ values: [value = null], ...figures }) => ({ value, ...figures })));
        };
        expect(comparable([{ value: null, ...costs.total }])).toEqual(await reported([]));
        expect(comparable(costs.bySubAccount.lines)).toEqual(await reported(['SubAccount']));
        expect(comparable(costs.byChargeCode.lines)).toEqual(await reported(['ChargeCode']));
      }
    }
  });
  await fc.assert(property, examples(5));
});

/** A time's month in Auckland, and the next. */
function monthsAround(begin: string): string[] {
  const format = { timeZone: 'Pacific/Auckland', year: 'numeric', month: '2-digit' } as const;
  const period = new Intl.DateTimeFormat('sv', format).format(new Date(begin));
  const next = new Date(`${period}-01T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return [period, next.toISOString().slice(0, 7)];
}

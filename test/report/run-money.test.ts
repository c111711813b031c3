import { Big } from 'big.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BillingLine } from '../../src/ledger/billing/report.ts';
import { findLargest } from '../../src/report/run/run-money.ts';
import { inOrder } from '../support/sheets.ts';

function createLine(value: string | null, changes: Partial<BillingLine> = {}): BillingLine {
  return {
    values: [value],
    kind: 'ordinary',
    currency: 'NZD',
    correctionOf: null,
    requests: 1,
    recipients: 1,
    accepted: 1,
    failed: 0,
    unknown: 0,
    delivered: 0,
    undelivered: 0,
    reportedUnsent: 0,
    notYetReported: 0,
    smsParts: '0',
    faxPages: '0',
    voiceSeconds: '0',
    emails: '0',
    expectedSmsParts: '0',
    price: '0',
    estimated: '0',
    estimatedTax: '0',
    difference: '0',
    unrated: 0,
    ...changes,
  };
}

test('the highest payers come first, by price and then estimate, and others are one exact sum', async () => {
  const lines = [
    createLine('a', { price: '0.10' }),
    createLine('b', { price: '2' }),
    createLine('c', { price: '0.1', estimated: '1' }),
    createLine(null, { price: '0.025' }),
  ];
  const { lines: shown, others } = await findLargest(inOrder([lines.slice(0, 2), lines.slice(2)]), 2);
  expect(shown.map(({ value }) => value)).toEqual(['b', 'c']);
  expect(others).toMatchObject({ count: 2, price: '0.125', recipients: 2 });
});

test("a correction of a closed month is added to its value's line, also across batches", async () => {
  const lines = [
    [createLine('a', { price: '0.10' })],
    [createLine('a', { price: '0.25', correctionOf: '2026-10' })],
  ];
  expect(await findLargest(inOrder(lines))).toMatchObject({
    lines: [{ value: 'a', price: '0.35', recipients: 2 }],
    others: null,
  });
});

test('lines and others always add up to everything', async () => {
  const prices = fc.array(fc.constantFrom('0', '0.1', '1.005', '-3', '0.00000001'), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(prices, fc.integer({ min: 1, max: 25 }), async (drawn, most) => {
      const { lines, others } = await findLargest(
        inOrder([drawn.map((price, index) => createLine(`${index}`, { price }))]),
        most,
      );
      const sum = (amounts: readonly string[]) =>
        amounts.reduce((all, each) => all.plus(each), new Big(0)).toFixed();
      expect(lines).toHaveLength(Math.min(most, drawn.length));
      expect(lines.length + (others?.count ?? 0)).toBe(drawn.length);
      expect(sum([...lines.map(({ price }) => price), others?.price ?? '0'])).toBe(sum(drawn));
    }),
  );
});

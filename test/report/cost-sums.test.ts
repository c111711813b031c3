import { expect, test } from 'vitest';
import { type CostLine, createCostSums } from '../../src/report/billing/billing-charts.ts';

const line = (values: readonly (string | null)[], changes: Partial<CostLine> = {}): CostLine => {
  return { kind: 'ordinary', currency: 'NZD', price: '0.1', estimated: '0.2', values, ...changes };
};

test('lines with the same value, kind and currency are one exact sum, across batches', () => {
  const sums = createCostSums(0);
  sums.add([line(['North', 'A']), line(['North', 'B'], { price: '12345678901234567890.05' })]);
  sums.add([
    line(['North', null]),
    line([null]),
    line(['North'], { currency: 'AUD' }),
    line(['North'], { kind: 'test' }),
  ]);
  expect(sums.lines()).toEqual([
    line(['North'], { price: '12345678901234567890.25', estimated: '0.6' }),
    line([null]),
    line(['North'], { currency: 'AUD' }),
    line(['North'], { kind: 'test' }),
  ]);
});

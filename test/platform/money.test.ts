import { expect, test } from 'vitest';
import {
  addAmounts,
  compareAmounts,
  countDecimals,
  createAmountFormat,
  displayDecimals,
  toDisplayAmount,
} from '../../src/platform/money.ts';

test.each([
  ['12', 0],
  ['12.5', 1],
  ['0.00000001', 8],
  ['-3.20', 2],
])('%s has %i decimals', (amount, decimals) => {
  expect(countDecimals(amount)).toBe(decimals);
});

test.each([
  ['0', '0.00'],
  ['12.5', '12.50'],
  ['0.0825', '0.0825'],
  ['1000000000000', '1000000000000.00'],
  ['0.00000001', '0.00000001'],
])('%s is shown as %s, without rounding or an exponent', (amount, shown) => {
  expect(toDisplayAmount(amount)).toBe(shown);
});

test.each([
  [[], 2],
  [['12'], 2],
  [['0.0825', '1.5'], 4],
])(
  'the amounts %j are shown with %i decimals, at least two and as many as any of them has',
  (amounts, decimals) => {
    expect(displayDecimals(amounts)).toBe(decimals);
  },
);

test.each([
  ['0.1', '0.2', '0.3'],
  ['1.50', '1.5', '3.00'],
  ['0', '0.00000001', '0.00000001'],
  ['999999999999.99', '0.01', '1000000000000.00'],
  ['1.25', '-1.25', '0.00'],
])('%s plus %s is %s, with as many decimals as the more precise amount', (one, other, sum) => {
  expect(addAmounts(one, other)).toBe(sum);
  expect(addAmounts(other, one)).toBe(sum);
});

test('amounts compare by value, not as text', () => {
  expect(compareAmounts('9.5', '10')).toBeLessThan(0);
  expect(compareAmounts('1.50', '1.5')).toBe(0);
  expect(compareAmounts('-1', '-2')).toBeGreaterThan(0);
});

test('amounts that are shown together have the same decimals, without zeros that no amount needs', () => {
  const format = createAmountFormat(['0.0825', '12.50000000', '3']);
  expect(['0.0825', '12.50000000', '3'].map(format)).toEqual(['0.0825', '12.5000', '3.0000']);
  expect(createAmountFormat(['12.50000000'])('12.50000000')).toBe('12.50');
});

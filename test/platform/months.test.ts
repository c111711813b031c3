import { expect, test } from 'vitest';
import { addMonths, monthAfter } from '../../src/platform/months.ts';

test('months are counted across years', () => {
  expect([monthAfter('2026-12'), addMonths('2026-01', -1), addMonths('2026-11', 14)]).toEqual([
    '2027-01',
    '2025-12',
    '2028-01',
  ]);
});

import { expect, test } from 'vitest';
import type { RunCost } from '../../src/ledger/billing/run-costs.ts';
import { toRunMoney } from '../../src/report/run/run-money.ts';

const aCost = (price: string, changes: Partial<RunCost> = {}): RunCost => ({
  recipients: 1,
  accepted: 1,
  price,
  estimated: '0',
  estimatedTax: '0',
  unrated: 0,
  ...changes,
});

const lines = [
  { value: 'b', ...aCost('2') },
  { value: 'c', ...aCost('0.1', { estimated: '1' }) },
];
const none = { bySubAccount: [], byChargeCode: [], subAccounts: 0, chargeCodes: 0, currency: null };

test('what is not listed is one exact sum', () => {
  const total = aCost('2.225', { recipients: 4, accepted: 3, estimated: '1.5' });
  const costs = { ...none, total, currency: 'NZD', bySubAccount: lines, subAccounts: 4 };
  expect(toRunMoney(costs)).toMatchObject({
    currency: 'NZD',
    price: '2.225',
    difference: '0.725',
    bySubAccount: {
      lines: [
        { value: 'b', price: '2', difference: '2' },
        { value: 'c', price: '0.1', difference: '-0.9' },
      ],
      others: { count: 2, recipients: 2, accepted: 1, price: '0.125', estimated: '0.5' },
    },
  });
});

test('where all payers are listed there are no others, and a run that costs nothing has no money', () => {
  const total = aCost('2.1', { recipients: 2 });
  const costs = { ...none, total, byChargeCode: lines, chargeCodes: 2, subAccounts: 1 };
  expect(toRunMoney(costs)?.byChargeCode.others).toBeNull();
  expect(toRunMoney({ ...none, total: aCost('0', { recipients: 0 }) })).toBeNull();
});

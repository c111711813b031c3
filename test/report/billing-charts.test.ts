import { expect, test } from 'vitest';
import type { BillingFigures } from '../../src/ledger/billing/figures.ts';
import type { BillingLine, BillingTotal } from '../../src/ledger/billing/report.ts';
import { createBillingCharts, createCostCharts } from '../../src/report/billing/billing-charts.ts';

const nothing: BillingFigures = {
  requests: 0,
  recipients: 0,
  accepted: 0,
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
};

const total = (changes: Partial<BillingTotal>): BillingTotal => ({
  ...nothing,
  kind: 'ordinary',
  currency: null,
  corrections: false,
  ...changes,
});

const line = (value: string | null, changes: Partial<BillingLine>): BillingLine => ({
  ...nothing,
  kind: 'ordinary',
  values: [value],
  currency: null,
  correctionOf: null,
  ...changes,
});

const days = [
  line('2026-11-01', { recipients: 3, accepted: 3, delivered: 2, currency: 'NZD' }),
  line('2026-11-01', { recipients: 4, accepted: 1, currency: 'AUD' }),
  line('2026-11-02', { recipients: 1, currency: 'AUD' }),
  line('2026-11-02', { accepted: 7, delivered: 9, correctionOf: '2026-10', currency: 'AUD' }),
  line('2026-11-02', { recipients: 5, accepted: 5, delivered: 5, kind: 'test' }),
];
const costs = [
  line('North', { price: '1.50', estimated: '1.00', currency: 'NZD' }),
  line(null, { price: '0.10', estimated: '2.00', currency: 'NZD' }),
  line('North', { price: '0', estimated: '7.00', currency: 'AUD' }),
];
const payers = ['SubAccount', 'ChargeCode'];

test('counts are charted over all currencies, and money per currency', () => {
  const totals = [
    total({ currency: 'NZD', recipients: 3, accepted: 3, delivered: 2, price: '1.60' }),
    total({ currency: 'AUD', recipients: 5, accepted: 1, delivered: 0, estimated: '7.00' }),
  ];
  const charts = createBillingCharts(payers, totals, [days, costs, costs]);
  expect(charts.map(({ title, description }) => [title, description])).toEqual([
    ['From recipients to deliveries', 'Recipients 8 (100.0 %), Accepted 4 (50.0 %), Delivered 2 (25.0 %)'],
    ['Recipients by day', '8 from 2026-11-01 to 2026-11-02, by day; most in 2026-11-01: 7.'],
    ['Price by SubAccount, NZD', 'North 1.50, (none) 0.10'],
    ['Estimated cost by SubAccount, AUD', 'North 7.00'],
    ['Price by ChargeCode, NZD', 'North 1.50, (none) 0.10'],
    ['Estimated cost by ChargeCode, AUD', 'North 7.00'],
  ]);
});

test('deliveries of a month with corrections say that these are left out', () => {
  const totals = [total({ recipients: 8, accepted: 11, delivered: 11, corrections: true })];
  const [chart] = createBillingCharts(payers, totals, [days, costs, costs]);
  expect(chart?.title).toBe('From recipients to deliveries, without corrections');
  expect(chart?.description).toBe('Recipients 8 (100.0 %), Accepted 4 (50.0 %), Delivered 2 (25.0 %)');
});

test('charts without data are drawn too', () => {
  const charts = createBillingCharts(payers, [], [[], [], []]);
  expect(charts.map(({ title }) => title)).toEqual(['From recipients to deliveries', 'Recipients by day']);
});

test('what a month costs stands in the order of months', () => {
  const lines = [
    line('2026-10', { price: '9', currency: 'NZD' }),
    line('2026-09', { price: '1', currency: 'NZD' }),
  ];
  const [chart] = createCostCharts('month', [total({ currency: 'NZD', price: '10' })], lines);
  expect([chart?.title, chart?.description]).toEqual(['Price by month, NZD', '2026-09 1, 2026-10 9']);
});

test('a name without costs has no bar, and a currency without costs no chart', () => {
  const totals = [total({ currency: 'NZD', price: '1.50' }), total({ currency: null })];
  const lines = [
    line('North', { price: '1.50', currency: 'NZD' }),
    line('South', { currency: 'NZD' }),
    line('North', { currency: null }),
  ];
  const charts = createCostCharts('SubAccount', totals, lines);
  expect(charts.map(({ description }) => description)).toEqual(['North 1.50']);
});

import { expect, test } from 'vitest';
import { costText } from '../../src/cli/plans/plan-lines.ts';
import { formatPayer, parsePayer } from '../../src/report/billing/billing-words.ts';

test('a payer called like the placeholder for no name differs from it', () => {
  const names = [null, '(none)', '"(none)"', '(None)', 'ACME', '', '"ACME"'];
  const shown = names.map(formatPayer);
  expect(shown).toEqual(['(none)', '"(none)"', '""(none)""', '(None)', 'ACME', '', '"ACME"']);
  // A filter accepts what a line shows.
  expect(shown.map(parsePayer)).toEqual(names);
});

test('the estimate of a plan shows both', () => {
  const line = { chargeCode: null, recipients: 1, units: 1, cost: '0.10' };
  const lines = [
    { ...line, subAccount: null },
    { ...line, subAccount: '(none)' },
  ];
  const text = costText({ kind: 'known', currency: 'NZD', unit: 'part', lines, total: '0.20', tax: null });
  expect(text.split('\n').filter((each) => each.includes('(none)'))).toEqual([
    expect.stringMatching(/^│ \(none\) +│ \(none\) /),
    expect.stringMatching(/^│ "\(none\)" +│ \(none\) /),
  ]);
});

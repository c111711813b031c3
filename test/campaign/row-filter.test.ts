import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { compose } from '../../src/campaign/composition.ts';
import type { RowFilter } from '../../src/campaign/row-filter.ts';
import { problemsThrown } from '../support/thrown-problems.ts';
import { current, header } from './parts.ts';

function filter(where: unknown): RowFilter | undefined {
  const source = `campaign: test
account: main
channel: sms
contacts: { file: c.csv, where: ${JSON.stringify(where)} }
message: { Message: Hi }
`;
  return compose(readCampaign(source, 'c.yaml'), current, header).filter;
}

const problems = (where: unknown) => problemsThrown(() => filter(where));

/** Whether a row passes the conditions. */
function passes(where: unknown, row: Readonly<Record<string, string>>): boolean | undefined {
  return filter(where)?.((column) => row[column] ?? '');
}

describe('createRowFilter', () => {
  test.each([
    ['equals', { column: 'state', equals: 'NSW' }, ['NSW', ' NSW '], ['VIC', 'nsw', '', 'NSW1']],
    ['in', { column: 'state', in: ['NSW', 'VIC'] }, ['NSW', 'VIC'], ['WA', '', 'NSW,VIC']],
    ['present', { column: 'state', present: true }, ['x', '0'], ['', ' ', '\t']],
    ['absent', { column: 'state', present: false }, ['', ' '], ['x', '0', 'false']],
  ])('a row is selected by %s', (_, condition, meant, others) => {
    for (const state of meant) expect(passes([condition], { state })).toBe(true);
    for (const state of others) expect(passes([condition], { state })).toBe(false);
  });

  test('a row is selected when all conditions hold', () => {
    const where = [
      { column: 'state', equals: 'NSW' },
      { column: 'email', present: true },
    ];
    expect(passes(where, { state: 'NSW', email: 'a' })).toBe(true);
    expect(passes(where, { state: 'NSW' })).toBe(false);
    expect(passes(where, { email: 'a' })).toBe(false);
  });

  test('without conditions, every row is selected', () => {
    expect(filter([])).toBeUndefined();
  });

  test('values are compared as text, not as numbers', () => {
    expect(passes([{ column: 'n', equals: '0800' }], { n: '0800' })).toBe(true);
    expect(passes([{ column: 'n', equals: '0800' }], { n: '800' })).toBe(false);
  });
});

describe('invalid conditions', () => {
  test.each([
    ['without a rule', { column: 'state' }],
    ['with two rules', { column: 'state', equals: 'a', present: true }],
  ])('a condition is refused: %s', (_, condition) => {
    expect(problems([condition])).toEqual([
      'c.yaml:4:34: "contacts.where.0": expected one of equals, in and present, got keys with values.',
    ]);
  });

  test('a condition on a missing column is refused with the nearest column', () => {
    expect(problems([{ column: 'stat', equals: 'NSW' }])).toEqual([
      `c.yaml:4:44: c.csv has no column "stat". Did you mean "state"? Its columns: ${header.join(', ')}.`,
    ]);
  });

  test('a condition with an unknown rule is refused', () => {
    expect(problems([{ column: 'state', equal: 'NSW' }])).toContainEqual(
      expect.stringContaining('Unknown key "equal" in "contacts.where.0". Did you mean "equals"?'),
    );
  });

  test('a condition needs true or false, or at least one value', () => {
    expect(problems([{ column: 'state', present: 'yes' }])).toEqual([
      expect.stringContaining('"contacts.where.0.present": expected true or false, got "yes".'),
    ]);
    expect(problems([{ column: 'state', in: [] }])).toEqual([
      expect.stringContaining('"contacts.where.0.in": expected at least one value'),
    ]);
  });
});

test('columns with their values are short for conditions, and a column that the file does not have is named with the nearest', () => {
  expect(passes({ state: 'NSW', city: ['Sydney', 'Newcastle'] }, { state: 'NSW', city: 'Sydney' })).toBe(
    true,
  );
  expect(passes({ state: 'NSW', city: ['Sydney', 'Newcastle'] }, { state: 'NSW', city: 'Perth' })).toBe(
    false,
  );
  expect(problems({ stat: 'NSW' })).toEqual([
    expect.stringContaining('no column "stat". Did you mean "state"?'),
  ]);
});

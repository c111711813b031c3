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

/** Whether a row passes. */
function passes(where: unknown, row: Readonly<Record<string, string>>): boolean | undefined {
  return filter(where)?.((column) => row[column] ?? '');
}

describe('a row is meant', () => {
  test.each([
    ['equals', { column: 'state', equals: 'NSW' }, ['NSW', ' NSW '], ['VIC', 'nsw', '', 'NSW1']],
    ['in', { column: 'state', in: ['NSW', 'VIC'] }, ['NSW', 'VIC'], ['WA', '', 'NSW,VIC']],
    ['present', { column: 'state', present: true }, ['x', '0'], ['', ' ', '\t']],
    ['absent', { column: 'state', present: false }, ['', ' '], ['x', '0', 'false']],
  ])('by %s', (_, condition, meant, others) => {
    for (const state of meant) expect(passes([condition], { state })).toBe(true);
    for (const state of others) expect(passes([condition], { state })).toBe(false);
  });

  test('when all conditions hold', () => {
    const where = [
      { column: 'state', equals: 'NSW' },
      { column: 'email', present: true },
    ];
    expect(passes(where, { state: 'NSW', email: 'a' })).toBe(true);
    expect(passes(where, { state: 'NSW' })).toBe(false);
    expect(passes(where, { email: 'a' })).toBe(false);
  });

  test('when there are no conditions, without a question', () => {
    expect(filter([])).toBeUndefined();
  });

  test('by the text as it is written, not by a number', () => {
    expect(passes([{ column: 'n', equals: '0800' }], { n: '0800' })).toBe(true);
    expect(passes([{ column: 'n', equals: '0800' }], { n: '800' })).toBe(false);
  });
});

describe('a condition is refused', () => {
  test.each([
    ['without a rule', { column: 'state' }],
    ['with two rules', { column: 'state', equals: 'a', present: true }],
  ])('%s', (_, condition) => {
    expect(problems([condition])).toEqual([
      'c.yaml:4:34: "contacts.where.0": expected one of equals, in and present, got keys with values.',
    ]);
  });

  test('that names no column of the file, with the nearest', () => {
    expect(problems([{ column: 'stat', equals: 'NSW' }])).toEqual([
      `c.yaml:4:44: c.csv has no column "stat". Did you mean "state"? Its columns: ${header.join(', ')}.`,
    ]);
  });

  test('with a rule nobody knows', () => {
    expect(problems([{ column: 'state', equal: 'NSW' }])).toContainEqual(
      expect.stringContaining('Unknown key "equal" in "contacts.where.0". Did you mean "equals"?'),
    );
  });

  test('with something else than true and false, or no values', () => {
    expect(problems([{ column: 'state', present: 'yes' }])).toEqual([
      expect.stringContaining('"contacts.where.0.present": expected true or false, got "yes".'),
    ]);
    expect(problems([{ column: 'state', in: [] }])).toEqual([
      expect.stringContaining('"contacts.where.0.in": expected at least one value'),
    ]);
  });
});

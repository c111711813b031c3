import { expect, test } from 'vitest';
import { sheetWriter } from '../../src/cli/report-options.ts';
import { problemsOf } from '../support/problems.ts';

const terminal = { resultTerminal: true };

test('a workbook is not written to a terminal', () => {
  expect(problemsOf(() => sheetWriter(terminal, { format: 'xlsx' }, 'csv'))).toEqual([
    '--format xlsx: A workbook is not for a terminal; say where it goes with --out <file>.',
  ]);
});

test.each([
  ['into a pipe', { resultTerminal: false }, {}],
  ['into a file', terminal, { out: 'bill.xlsx' }],
])('a workbook is written %s', (_, shell, options) => {
  expect(() => sheetWriter(shell, { format: 'xlsx', ...options }, 'csv')).not.toThrow();
});

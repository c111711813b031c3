import { expect, test } from 'vitest';
import { chooseFormat, sheetWriter } from '../../src/cli/output/write-report.ts';
import { plainScreen } from '../../src/report/screen.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const settings = { environment: {}, workingFolder: process.cwd() };
const terminal = {
  resultTerminal: true,
  result: process.stdout,
  note: () => undefined,
  settings,
  screen: plainScreen,
  words: [],
};

test('a workbook is not written to a terminal', () => {
  expect(problemsThrown(() => sheetWriter(terminal, { format: 'xlsx' }, 'csv'))).toEqual([
    '--format xlsx: A terminal cannot show a workbook. Name a file with --out <file>.',
  ]);
});

test.each([
  ['into a pipe', { ...terminal, resultTerminal: false }, {}],
  ['into a file', terminal, { out: 'bill.xlsx' }],
])('a workbook is written %s', (_, shell, options) => {
  expect(() => sheetWriter(shell, { format: 'xlsx', ...options }, 'csv')).not.toThrow();
});

test('a file name of a format that the report lacks is refused, with the available formats', () => {
  const choose = (out: string) =>
    chooseFormat(
      terminal,
      { out },
      { defaultFormat: 'table', formats: ['table', 'html'], advice: 'Take the page.' },
    );
  expect(problemsThrown(() => choose('run.csv'))).toEqual(['--out run.csv: Take the page.']);
  expect([choose('run.HTML'), choose('run.txt')]).toEqual(['html', 'table']);
});

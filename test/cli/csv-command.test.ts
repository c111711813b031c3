import { expect, test } from 'vitest';
import { csvCommand } from '../../src/cli/csv-command.ts';

test.each([
  ['report billing --by run --out bill.html', 'bill.html', 'report billing --by run --out bill.csv'],
  ['report billing --format=html --by run', undefined, 'report billing --by run --out report.csv'],
  ['--format html report failures latest', undefined, 'report failures latest --out report.csv'],
  ['audit --format html --out=a.b/trail', 'a.b/trail', 'audit --out a.b/trail.csv'],
])('`volley %s` writes CSV as another command', (words, out, command) => {
  expect(csvCommand(words.split(' '), out)).toBe(`volley ${command}`);
});

test('words that a shell would change are quoted', () => {
  expect(csvCommand(['report', 'billing', '--sub-account', "O'Neil & Co", '(none)'], undefined)).toBe(
    "volley report billing --sub-account 'O'\\''Neil & Co' '(none)' --out report.csv",
  );
});

import { expect, test } from 'vitest';
import { csvCommand } from '../../src/cli/output/write-report.ts';

test.each([
  ['billing report --by run --out bill.html', 'bill.html', 'billing report --by run --out bill.csv'],
  ['billing report --format=html --by run', undefined, 'billing report --by run --out report.csv'],
  ['--format html report failures latest', undefined, 'report failures latest --out report.csv'],
  ['audit --format html --out=a.b/trail', 'a.b/trail', 'audit --out a.b/trail.csv'],
])('`volley %s` writes CSV as another command', (words, out, command) => {
  expect(csvCommand(words.split(' '), out)).toBe(`volley ${command}`);
});

test('words that a shell would change are quoted', () => {
  expect(csvCommand(['billing', 'report', '--sub-account', "O'Neil & Co", '(none)'], undefined)).toBe(
    "volley billing report --sub-account 'O'\\''Neil & Co' '(none)' --out report.csv",
  );
});

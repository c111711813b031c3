import { expect, test } from 'vitest';
import { omitCommands } from '../../../src/dashboard/base/problems.ts';

test.each([
  ['There is no such run; `volley runs` lists them.', 'There is no such run.'],
  ['The run waits for approval; `volley approve R` approves it.', 'The run waits for approval.'],
  [
    'Run R can still send. `volley cancel R` ends it. So can 2 more: `volley runs` lists them.',
    'Run R can still send.',
  ],
])('a page leaves out the command for which it has a button: %s', (text, shown) => {
  expect(omitCommands(text)).toBe(shown);
});

test.each([
  'It has more than 9 lines. `volley billing reconcile --invoice <file>` compares an invoice of any size.',
  'The database is empty. `volley init` makes a ledger in it.',
  '`volley runs` lists them.',
])('a page keeps a command that it cannot replace, and a sentence that is all there is: %s', (text) => {
  expect(omitCommands(text)).toBe(text);
});

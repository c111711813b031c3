import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { InputError, type Problem } from '../../src/domain/problems.ts';
import { seededIntegers } from '../support/seeded-integers.ts';

const folder = new URL('../../campaigns/', import.meta.url);
const examples = ['./', './interfaces/'].flatMap((path) =>
  readdirSync(new URL(path, folder))
    .filter((name) => name.endsWith('.yaml') && name !== 'accounts.yaml')
    .map((name) => readFileSync(new URL(path + name, folder), 'utf8')),
);

function problemsOf(source: string): readonly Problem[] {
  try {
    readCampaign(source, 'c.yaml');
    return [];
  } catch (error) {
    if (error instanceof InputError) return error.problems;
    throw error;
  }
}

test('for a hundred random re-indentations of the example campaigns, the error names the wrongly indented line', () => {
  const choose = seededIntegers(5);
  const wrong: unknown[] = [];
  let checked = 0;
  for (let tried = 0; checked < 100 && tried < 1_000; tried++) {
    const lines = (examples[choose(examples.length)] ?? '').split('\n');
    const index = choose(lines.length);
    const line = lines[index] ?? '';
    const indent = choose(7);
    const text = line.trimStart();
    if (text === '' || text.startsWith('#') || line.length - text.length === indent) continue;
    lines[index] = ' '.repeat(indent) + text;
    const problems = problemsOf(lines.join('\n'));
    // A change that YAML still reads has the same meaning: a list can be indented or not.
    if (problems.length === 0) continue;
    checked++;
    const expected = line.length - text.length;
    const [first, ...others] = problems;
    if (
      first?.where !== `c.yaml:${index + 1}:${indent + 1}` ||
      !first.what.endsWith(`; expected ${expected}.`) ||
      others.length > 0
    )
      wrong.push({ line: index + 1, source: lines.join('\n'), problems });
  }
  expect(wrong).toEqual([]);
  expect(checked).toBe(100);
});

const ordinary = `campaign: night
account: main
channel: sms
contacts:
  file: c.csv
  country: NZ
message:
  Message: Hello
`;

test.each([
  ['country: NZ', 'country:NZ', 'c.yaml:6:11: Expected a space after ":".'],
  ['country: NZ', 'country NZ', 'c.yaml:6:3: Expected "key: value"; a ":" is missing.'],
  ['contacts:\n', 'contacts\n', 'c.yaml:4:1: Expected "key: value"; a ":" is missing.'],
  ['  country', '\u00a0 country', 'c.yaml:6:1: This line is indented with spaces that YAML does not accept'],
  ['  file', '\u00a0\u00a0file', 'c.yaml:5:1: This line is indented with spaces that YAML does not accept'],
  ['channel: sms', 'channel: sms\nchannel: sms', 'c.yaml:4:1: Key "channel" is written twice'],
  ['  Message: Hello\n', '  Message: Hello\nchannel: sms\n', 'c.yaml:9:1: Key "channel" is written twice'],
])('an error other than wrong indentation is reported as itself: %j as %j', (right, wrong, message) => {
  expect(problemsOf(ordinary)).toEqual([]);
  const [first, ...others] = problemsOf(ordinary.replace(right, wrong));
  expect(`${first?.where}: ${first?.what}`).toContain(message);
  expect(others).toEqual([]);
});

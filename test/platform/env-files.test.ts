import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEnvFile } from '../../src/platform/env-files.ts';
import { examples } from '../support/examples.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const problems = (text: string) => problemsThrown(() => parseEnvFile(text, '.env'));

test('names, quotes, comments, line ends and values of several lines are read as they are written', () => {
  const text = [
    '\uFEFF# comment',
    '',
    'PLAIN=postgres://user:pass@db.example/volley?sslmode=require',
    'export EXPORTED = spaced  # comment',
    `SINGLE='it is \\n $HOME # no comment'`,
    'DOUBLE="two\\nlines"  # comment',
    'BACK=`"both\'`',
    'LONG="-----BEGIN',
    '# inside',
    'END-----"',
    'EMPTY=',
  ].join('\r\n');
  expect(parseEnvFile(text, '.env')).toEqual({
    PLAIN: 'postgres://user:pass@db.example/volley?sslmode=require',
    EXPORTED: 'spaced',
    SINGLE: 'it is \\n $HOME # no comment',
    DOUBLE: 'two\nlines',
    BACK: `"both'`,
    LONG: '-----BEGIN\n# inside\nEND-----',
    EMPTY: '',
  });
});

test('a line that Node would skip, or whose value it would cut, is an error with its line, without its text', () => {
  const text = [
    'TOKEN: s3cret',
    'export',
    'A-B=1',
    'TOKEN=s3#cret',
    'COLOUR=#s3cret',
    'TOKEN="s3" cret',
    'TOKEN="s3\\"cret"',
    'FINE=1',
    "TOKEN='s3cret",
    'ALSO_FINE=1',
  ].join('\n');
  const found = problems(text);
  expect(found.map((line) => line.slice(0, line.indexOf(' ')))).toEqual(
    [1, 2, 3, 4, 5, 6, 7, 9].map((line) => `.env:${line}:`),
  );
  expect(found[0]).toBe('.env:1: expected NAME=value, or a comment that begins with #.');
  expect(found[3]).toBe('.env:4: The value contains #, which begins a comment. Put the value in quotes.');
  expect(found[7]).toBe(`.env:9: The quote ' is not closed.`);
  expect(found.join('\n')).not.toContain('cret');
});

test('a file that is accepted gives each of its variables the whole value that was written', () => {
  const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/);
  const value = fc.string({ unit: fc.constantFrom(...`ab1#=$ '"\\:/\n`), maxLength: 12 });
  const pair = fc.record({ name, value, quote: fc.constantFrom('', '"', "'", '`') });
  fc.assert(
    fc.property(fc.uniqueArray(pair, { selector: (each) => each.name, maxLength: 5 }), (pairs) => {
      const text = pairs.map((each) => `${each.name}=${each.quote}${each.value}${each.quote}`).join('\n');
      let read: Readonly<Record<string, string>>;
      try {
        read = parseEnvFile(text, '.env');
      } catch {
        return;
      }
      for (const each of pairs) {
        if (!Object.hasOwn(read, each.name)) continue;
        const isQuoted = each.quote !== '' && !each.value.includes(each.quote);
        if (isQuoted && !/\\n/.test(each.value)) expect(read[each.name]).toBe(each.value);
      }
    }),
    examples(300),
  );
});

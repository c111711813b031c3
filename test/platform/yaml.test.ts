import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { InputError } from '../../src/domain/problems.ts';
import { duration, text, wholeNumber } from '../../src/platform/scalars.ts';
import { readYaml } from '../../src/platform/yaml.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const schema = z.strictObject({
  name: text.describe('The name in reports.'),
  colour: z.enum(['red', 'green', 'blue']).optional(),
  inner: z
    .strictObject({
      size: wholeNumber(1, 100, 7),
      wait: duration.optional(),
      note: text.optional(),
      deep: z.strictObject({ leaf: text }).optional(),
    })
    .optional(),
  list: z.array(z.strictObject({ file: text })).optional(),
  byName: z.record(z.string(), z.strictObject({ key: text })).optional(),
  secret: z
    .string()
    .regex(/^\$\{\w+\}$/, 'a secret must not stand here')
    .meta({ writeOnly: true })
    .optional(),
});

const read = (source: string) => readYaml(source, 'a.yaml', schema);
const problems = (source: string) => problemsThrown(() => read(source));

describe('YAML values', () => {
  test.each(['0123', '+6421', '1e3', '0x1F', '1_000', '12:30', '007', '.5'])(
    '%s is read as the same text',
    (value) => {
      expect(read(`name: ${value}`).value.name).toBe(value);
    },
  );

  test.each(['no', 'yes', 'on', 'true', 'False', '2026-11-21', '.inf'])('%s stays text', (value) => {
    expect(read(`name: ${value}`).value.name).toBe(value);
  });

  test('are located by file, line and column', () => {
    const { locate } = read('name: x\ninner:\n  size: 3\n  note: hello\n');
    expect(locate(['inner', 'note'])).toBe('a.yaml:4:9');
    expect(locate(['inner'])).toBe('a.yaml:3:3');
  });

  test('are located at their nearest parent if they are not in the file', () => {
    const { locate } = read('name: x\ninner:\n  size: 3\n');
    expect(locate(['inner', 'deep', 'leaf'])).toBe('a.yaml:3:3');
    expect(locate(['list', 0, 'file'])).toBe('a.yaml:1:1');
  });

  test('are located after a byte order mark and CRLF line ends', () => {
    const { locate } = read('\ufeffname: x\r\ninner:\r\n  note: y\r\n');
    expect(locate(['inner', 'note'])).toBe('a.yaml:3:9');
  });

  test.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['2m', 120_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
  ])('a duration of %s is %i milliseconds', (written, milliseconds) => {
    expect(read(`name: x\ninner: { wait: ${written} }`).value.inner?.wait).toBe(milliseconds);
  });

  test('are read unchanged if they are written as JSON strings', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (value) => {
        expect(read(`name: ${JSON.stringify(value)}\n`).value.name).toBe(value);
      }),
    );
  });
});

describe('an unknown key', () => {
  test('at the top is reported with its location and a similar key', () => {
    expect(problems('name: x\ncolor: red')).toEqual([
      'a.yaml:2:1: Unknown key "color". Did you mean "colour"? Known here: name, colour, inner, list, byName, secret.',
    ]);
  });

  test.each([
    ['in a map', 'inner:\n  siez: 3', '3:3', 'inner', 'size'],
    ['in a map in a map', 'inner:\n  deep: { leaf: a, leav: b }', '3:20', 'inner.deep', 'leaf'],
    ['in a list', 'list:\n  - file: a\n    fiel: b', '4:5', 'list.0', 'file'],
    ['below a free name', 'byName:\n  one: { key: a, kee: b }', '3:18', 'byName.one', 'key'],
  ])('is reported with its location and a similar key, %s', (_, more, location, parent, near) => {
    expect(problems(`name: x\n${more}`)).toEqual([
      expect.stringMatching(
        new RegExp(`^a\\.yaml:${location}: Unknown key ".*" in "${parent}"\\. Did you mean "${near}"\\?`),
      ),
    ]);
  });

  test('gets no suggestion if no known key is similar', () => {
    expect(problems('name: x\nzzzzzz: y')).toEqual([
      'a.yaml:2:1: Unknown key "zzzzzz". Known here: name, colour, inner, list, byName, secret.',
    ]);
  });

  test.each(['__proto__', 'constructor', 'toString'])('is reported even if it is %s', (key) => {
    expect(problems(`name: x\n${key}: y`)).toEqual([expect.stringContaining(`Unknown key "${key}"`)]);
  });

  test('gets a suggestion that differs only in case', () => {
    expect(problems('Name: x\nname: y')).toEqual([expect.stringContaining('Did you mean "name"?')]);
  });
});

describe('YAML keys', () => {
  test('must be unique, and the error locates the second one', () => {
    expect(problems('name: x\ninner:\n  size: 1\n  size: 2\nname: y')).toEqual([
      'a.yaml:4:3: Key "size" is written twice; keys must be unique.',
      'a.yaml:5:1: Key "name" is written twice; keys must be unique.',
    ]);
  });

  test('that are required but missing are reported with the expected value', () => {
    expect(problems('inner:\n  deep: {}\n')).toEqual([
      'a.yaml:1:1: "name" is missing; expected the name in reports.',
      'a.yaml:2:9: "inner.deep.leaf" is missing.',
    ]);
  });

  test('cannot be lists', () => {
    expect(problems('name: x\n? [a]\n: b')).toEqual([
      'a.yaml:2:3: Expected a plain word as a key. A text that begins with "{" or "[" must be in quotes.',
    ]);
  });
});

describe('a wrong value', () => {
  test('of a closed list is reported with the list and a similar value', () => {
    expect(problems('name: x\ncolour: gren')).toEqual([
      'a.yaml:2:9: "colour": expected red, green or blue, got "gren". Did you mean "green"?',
    ]);
  });

  test.each(['0', '101', '-1', '1.5', '1e1', 'many', '0x10', '99999999999999999999', '""'])(
    '%s is rejected as not a number within bounds',
    (value) => {
      const shown = value === '""' ? '""' : `"${value}"`;
      expect(problems(`name: x\ninner: { size: ${value} }`)).toEqual([
        `a.yaml:2:16: "inner.size": expected a whole number from 1 to 100, got ${shown}.`,
      ]);
    },
  );

  test('for a duration is reported with examples', () => {
    expect(problems('name: x\ninner: { wait: 5 }')).toEqual([
      'a.yaml:2:16: "inner.wait": expected a duration such as 500ms, 5s, 2m, 2h or 7d, got "5".',
    ]);
  });

  test('that YAML reads as a list gets the advice to use quotes', () => {
    expect(problems('name: [[state]]')).toEqual([
      'a.yaml:1:7: "name": expected a text, got a list. A text that begins with "[" must be in quotes: "[[state]]".',
    ]);
    expect(problems('name: {a: b}')).toEqual([
      'a.yaml:1:7: "name": expected a text, got keys with values. A text that begins with "{" must be in quotes: "{a: b}".',
    ]);
  });

  test.each([
    ['inner: fast', 'a.yaml:2:8: "inner": expected keys with values, got "fast".'],
    ['inner:', 'a.yaml:2:7: "inner": expected keys with values, got nothing.'],
    ['list: a.pdf', 'a.yaml:2:7: "list": expected a list, with "- " before each item, got "a.pdf".'],
    ['list:\n  - a.pdf', 'a.yaml:3:5: "list.0": expected keys with values, got "a.pdf".'],
    ['inner: { note: }', 'a.yaml:2:16: "inner.note": expected a text, got nothing.'],
  ])('of another type is reported with its type: %s', (more, problem) => {
    expect(problems(`name: x\n${more}`)).toEqual([problem]);
  });

  test('is shown on one line of at most 60 characters', () => {
    const [problem] = problems(`name: x\ncolour: "red\\n${'x'.repeat(5000)}"`);
    expect(problem).toContain(`got "red ${'x'.repeat(55)}…".`);
  });

  test('is not shown if it may be a secret', () => {
    for (const written of ['hunter2', '[hunter2]', '{ hunter2: hunter2 }', '"hunter2"']) {
      expect(problems(`name: x\nsecret: ${written}`).join()).not.toContain('hunter2');
    }
  });

  test.each(['~', 'null', 'Null'])('%s is reported as no value', (value) => {
    expect(problems(`name: ${value}`)).toEqual([
      `a.yaml:1:7: "${value}" means no value in YAML: leave the key out, or put the text in quotes.`,
    ]);
    expect(read(`name: "${value}"`).value.name).toBe(value);
  });
});

test('all problems of a file are reported together', () => {
  expect(
    problems('colour: pink\ninner: { size: 0, wait: 1, nope: 2 }\nlist: [ {}, { file: [a] } ]').length,
  ).toBe(7);
});

describe('an empty file', () => {
  test.each(['', '\n\n', '# only a comment\n', '---\n', '\ufeff'])(
    'is reported with the required keys: %j',
    (source) => {
      expect(problems(source)).toEqual(['a.yaml:1:1: The file is empty; expected the keys name.']);
    },
  );
});

test.each([
  ['hello', 'Expected keys with values, got "hello".'],
  ['- a\n- b', 'Expected keys with values, got a list.'],
])('a file without keys at the top is rejected: %j', (source, what) => {
  expect(problems(source)).toEqual([`a.yaml:1:1: ${what}`]);
});

describe('a syntax error in YAML', () => {
  test.each([
    ['name: "x', '1:7', 'This quote is never closed.'],
    ["name: x\ninner:\n  note: 'it\nlist: []\n", '3:9', 'This quote is never closed.'],
    ['name: x\ninner:\n\tsize: 1', '3:1', 'A line is indented with a tab; expected spaces.'],
    ['name: Hi: there', '1:7', 'A text with ": " in it must be in quotes.'],
    ['name: @me', '1:7', 'A text that begins with "@" must be in quotes.'],
    ['name: %a', '1:7', 'A text that begins with "%" must be in quotes.'],
    ['name: x\n---\nname: y', '2:1', 'A second document begins here; expected one document in the file'],
    ['name: x\ncolour', '2:1', 'Expected "key: value"; a ":" is missing.'],
    ['name: [[state]]-x', '1:16', 'Unexpected "-" here. A text that begins with a quote, "["'],
    ['name: [[a]] [[b]]', '1:13', 'Unexpected "[" here. A text that begins with a quote, "["'],
    ['name: "a" b', '1:11', 'Unexpected "b" here. A text that begins with a quote, "["'],
    [
      'name: [x\ncolour: red',
      '2:1',
      'The list or map before this was opened with "[" or "{" and is not closed',
    ],
    ['name: "C:\\qx"', '1:10', 'In double quotes, "\\\\q" is no escape sequence'],
  ])('is reported once, with its location and the fix: %j', (source, location, what) => {
    expect(problems(source)).toEqual([expect.stringContaining(`a.yaml:${location}: ${what}`)]);
  });

  test.each([
    ['*STOP* now', '*'],
    ['*x', '*'],
    ['&nbsp; Hello', '&'],
    ['!Important notice', '!'],
    ['!!int 5', '!'],
  ])('%s would lose its first word, so it must be in quotes', (value, mark) => {
    expect(problems(`name: ${value}`)).toEqual([
      `a.yaml:1:7: A text that begins with "${mark}" must be in quotes (YAML's anchors, aliases and tags are not read here).`,
    ]);
    expect(read(`name: "${value}"`).value.name).toBe(value);
  });

  test('is reported for an alias bomb before any expansion', () => {
    const levels = Array.from({ length: 30 }, (_, level) => {
      const below =
        level === 0
          ? 'lol'
          : Array(9)
              .fill(`*a${level - 1}`)
              .join(', ');
      return `a${level}: &a${level} [${below}]`;
    });
    const before = performance.now();
    expect(problems(levels.join('\n'))[0]).toMatch(/^a\.yaml:1:5: A text that begins with "&"/);
    expect(performance.now() - before).toBeLessThan(1000);
  });

  test('is reported for an alias within itself, and for ten thousand brackets', () => {
    expect(problems('list: &l [*l]')[0]).toContain('anchors, aliases');
    expect(problems(`list: ${'['.repeat(10_000)}`)[0]).toMatch(/^a\.yaml:1:\d+: /);
  });
});

describe('a line with wrong indentation', () => {
  const wrongIndentation = (has: string, expected: number) =>
    `The indentation of this line does not fit the lines around it: it has ${has}; expected ${expected}.`;

  test.each([
    ['name: x\n colour: red', '2:2', wrongIndentation('1 space', 0)],
    ['name: x\n# why\n\n   colour: red\n', '4:4', wrongIndentation('3 spaces', 0)],
    ['name: x\r\n colour: red\r\n', '2:2', wrongIndentation('1 space', 0)],
    ['name: x\ninner:\n  size: 1\n note: x', '4:2', wrongIndentation('1 space', 2)],
    // YAML reads these, but differently.
    ['name: x\ninner:\nsize: 1\n', '3:1', wrongIndentation('0 spaces', 2)],
    ['name: x\ninner:\n  size: 1\n  deep:\n  leaf: a\n', '5:3', wrongIndentation('2 spaces', 4)],
    ['name: x\nlist:\n  - file: a\n    - file: b\n  - file: c\n', '4:5', wrongIndentation('4 spaces', 2)],
    // The block of a line moves with it.
    ['name: x\ninner:\n  size: 1\ndeep:\n  leaf: a\n', '4:1', wrongIndentation('0 spaces', 2)],
    ['name: x\ninner:\n  note: |\n    one\n  two\n  size: 1\n', '5:3', wrongIndentation('2 spaces', 4)],
  ])('is reported alone with the expected indentation: %j', (source, location, what) => {
    expect(problems(source).map((problem) => problem.replace(/^a\.yaml:/, ''))).toEqual([
      `${location}: ${what}`,
    ]);
  });

  test('is reported together with other problems', () => {
    expect(problems('colour: pink\ninner:\n  size: 1\n   note: x\n')).toEqual([
      `a.yaml:4:4: ${wrongIndentation('3 spaces', 2)}`,
      'a.yaml:1:1: "name" is missing; expected the name in reports.',
      'a.yaml:1:9: "colour": expected red, green or blue, got "pink".',
    ]);
  });

  test('is located after a value even if the file is too long for trying lines', () => {
    expect(problems(`name: x\n   colour: red\n# ${'x'.repeat(200_000)}\n`)).toEqual([
      expect.stringMatching(/^a\.yaml:2:4: The indentation does not fit the lines above/),
    ]);
  });

  test('is rejected if it is a list item that YAML joins to the text above', () => {
    expect(problems('name: a\n  - b\n')).toEqual([
      expect.stringMatching(
        /^a\.yaml:2:3: This line begins with "- " but continues the text of the line above/,
      ),
    ]);
    expect(read('name: "a\n  - b"\n').value.name).toBe('a - b');
  });
});

test('readYaml reads any text or reports a problem with its location', () => {
  const piece = fc.constantFrom(
    ...[
      'name',
      'inner',
      'size',
      'list',
      ': ',
      ':',
      '\n',
      '  ',
      '\t',
      '- ',
      '[',
      ']',
      '{',
      '}',
      ', ',
      '"',
      "'",
    ],
    ...[
      '&a ',
      '*a',
      '!t ',
      '|\n',
      '>',
      '#',
      '%',
      '@',
      '---\n',
      '...\n',
      '? ',
      '~',
      'x',
      '\\',
      '\r',
      '\u0000',
      '<<: ',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        read(pieces.join(''));
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        for (const { where, what } of error.problems) {
          expect(where).toMatch(/^a\.yaml:\d+:\d+$/);
          expect(what).toMatch(/^.{3,}[.?]$/s);
          expect(what).not.toMatch(/Invalid input|undefined|\[object/);
        }
      }
    }),
    // This example was once reported at line 0.
    { numRuns: 2000, examples: [[['[', '- ', '&a ']]] },
  );
});

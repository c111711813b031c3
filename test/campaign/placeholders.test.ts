import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate, type Resolution, render } from '../../src/campaign/placeholders.ts';
import { anyCharacter } from '../support/any-character.ts';

const columns = ['name', 'First Name', 'a.b', 'Straße'];
const resolve = (name: string): Resolution => {
  if (name === 'STOP' || name.startsWith('Link:')) return { kind: 'service' };
  return columns.includes(name) ? { kind: 'column', column: name } : { kind: 'unknown' };
};
const parse = (source: string) => parseTemplate(source, resolve);
const text = (words: string) => ({ kind: 'text', text: words });
const column = (name: string, fallback = '') => ({ kind: 'column', column: name, fallback });
const service = (written: string) => ({ kind: 'service', text: written });

describe('a placeholder', () => {
  test.each([
    ['Hello', [text('Hello')]],
    ['', []],
    ['[[name]]', [column('name')]],
    ['Hi [[name]]!', [text('Hi '), column('name'), text('!')]],
    ['[[name]][[name]]', [column('name'), column('name')]],
    ['[[First Name]]', [column('First Name')]],
    ['[[ First Name ]]', [column('First Name')]],
    ['[[a.b]] [[Straße]]', [column('a.b'), text(' '), column('Straße')]],
  ])('is a name between double brackets: %s', (source, template) => {
    expect(parse(source)).toEqual({ template, unknown: [], unclosed: [] });
  });

  test.each([
    ['[[name|there]]', 'there'],
    ['[[name|]]', ''],
    ['[[ name | there ]]', ' there '],
    ['[[name|a|b]]', 'a|b'],
    ['[[name|$& "x" <b>]]', '$& "x" <b>'],
  ])('may have a fallback, taken as it stands: %s', (source, fallback) => {
    expect(parse(source).template).toEqual([column('name', fallback)]);
  });

  test.each(['[[STOP]]', '[[Link:https://x.example/a?b=c&d|e]]'])(
    'of the service is left as it is: %s',
    (source) => {
      expect(parse(`a ${source} b`).template).toEqual([text('a '), service(source), text(' b')]);
    },
  );

  test('of the service loses the spaces around its name, which the service does not expect', () => {
    expect(parse('[[ STOP ]]').template).toEqual([service('[[STOP]]')]);
  });

  test.each([
    ['[[nam]]', 'nam'],
    ['[[]]', ''],
    ['[[|x]]', '|x'],
    ['[[Name]]', 'Name'],
    ['[[STOP|x]]', 'STOP|x'],
    ['[[__proto__]]', '__proto__'],
  ])('that nobody knows is told: %s', (source, name) => {
    expect(parse(source)).toEqual({ template: [], unknown: [name], unclosed: [] });
  });

  test.each([
    ['Hi [[name', '[[name'],
    ['Hi [[name] there', '[[name] there'],
    ['[[na[me]]', '[[na[me]]'],
    ['[[[[x', '[[[[x'],
    ['[[name]] and [[ then a long text', '[[ then a long text'],
  ])('that is not closed is told, and not sent as text: %s', (source, start) => {
    expect(parse(source).unclosed).toEqual([start.slice(0, 20)]);
  });

  test.each(['[name]', 'a [b] ]] c', '[ [name] ]', 'x[0]'])(
    'is not what has single brackets: %s',
    (source) => {
      expect(parse(source)).toEqual({ template: [text(source)], unknown: [], unclosed: [] });
    },
  );
});

describe('rendering', () => {
  const values: Record<string, string> = { name: 'Ann', 'First Name': '', 'a.b': '$& $1 \\', Straße: '<ß>' };
  const valueIn = (name: string) => values[name] ?? '';
  const filled = (source: string) => render(parse(source).template, valueIn);

  test.each([
    ['Hi [[name]]!', 'Hi Ann!'],
    ['Hi [[name|there]]!', 'Hi Ann!'],
    ['Hi [[First Name|there]]!', 'Hi there!'],
    ['Hi [[First Name]]!', 'Hi !'],
    ['[[a.b]]', '$& $1 \\'],
    ['[[name]] [[STOP]]', 'Ann [[STOP]]'],
  ])('puts values in: %s', (source, result) => {
    expect(filled(source)).toBe(result);
  });

  test('escapes values and fallbacks, never the text around them', () => {
    const { template } = parse('<b>[[Straße]]</b> [[First Name|<you>]]');
    expect(render(template, valueIn, (value) => value.replaceAll('<', '&lt;'))).toBe(
      '<b>&lt;ß></b> &lt;you>',
    );
  });

  test('puts in any value exactly as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (one, other) => {
        const anyValue = (name: string) => (name === 'name' ? one : other);
        expect(render(parse('a[[name]]b[[a.b]]c').template, anyValue)).toBe(`a${one}b${other}c`);
      }),
    );
  });
});

test('a template says the same as its source: without values to fill in, its pieces are the source again', () => {
  const piece = fc.constantFrom('[[', ']]', '[', ']', '|', 'name', 'STOP', 'x', ' ', '[[name]]', '[[STOP]]');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const source = pieces.join('');
      const { template, unknown } = parse(source);
      if (unknown.length > 0) return;
      const again = template.map((segment) =>
        segment.kind === 'column'
          ? `[[${segment.column}${segment.fallback && `|${segment.fallback}`}]]`
          : segment.text,
      );
      const normal = source.replace(/\[\[([^[\]]*)\]\]/g, (_, inside: string) => {
        const bar = inside.indexOf('|');
        if (bar < 0) return `[[${inside.trim()}]]`;
        const fallback = inside.slice(bar + 1);
        return `[[${inside.slice(0, bar).trim()}${fallback && `|${fallback}`}]]`;
      });
      expect(again.join('')).toBe(normal);
    }),
    { numRuns: 1000 },
  );
});

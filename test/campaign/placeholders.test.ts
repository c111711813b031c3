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

describe('parseTemplate', () => {
  test.each([
    ['Hello', [text('Hello')]],
    ['', []],
    ['[[name]]', [column('name')]],
    ['Hi [[name]]!', [text('Hi '), column('name'), text('!')]],
    ['[[name]][[name]]', [column('name'), column('name')]],
    ['[[First Name]]', [column('First Name')]],
    ['[[ First Name ]]', [column('First Name')]],
    ['[[a.b]] [[Straße]]', [column('a.b'), text(' '), column('Straße')]],
  ])('a placeholder is a name between double brackets: %s', (source, template) => {
    expect(parse(source)).toEqual({ template, unknown: [], unclosed: [] });
  });

  test.each([
    ['[[name|there]]', 'there'],
    ['[[name|]]', ''],
    ['[[ name | there ]]', ' there '],
    ['[[name|a|b]]', 'a|b'],
    ['[[name|$& "x" <b>]]', '$& "x" <b>'],
  ])('a placeholder can have a fallback, used exactly as written: %s', (source, fallback) => {
    expect(parse(source).template).toEqual([column('name', fallback)]);
  });

  test.each(['[[STOP]]', '[[Link:https://x.example/a?b=c&d|e]]'])(
    'a placeholder of the service passes through: %s',
    (source) => {
      expect(parse(`a ${source} b`).template).toEqual([text('a '), service(source), text(' b')]);
    },
  );

  test('a placeholder of the service loses the spaces around its name, which the service does not expect', () => {
    expect(parse('[[ STOP ]]').template).toEqual([service('[[STOP]]')]);
  });

  test.each([
    ['[[nam]]', 'nam'],
    ['[[]]', ''],
    ['[[|x]]', '|x'],
    ['[[Name]]', 'Name'],
    ['[[STOP|x]]', 'STOP|x'],
    ['[[__proto__]]', '__proto__'],
  ])('an unknown placeholder is reported: %s', (source, name) => {
    expect(parse(source)).toEqual({ template: [], unknown: [name], unclosed: [] });
  });

  test.each([
    ['Hi [[name', '[[name'],
    ['Hi [[name] there', '[[name] there'],
    ['[[na[me]]', '[[na[me]]'],
    ['[[[[x', '[[[[x'],
    ['[[name]] and [[ then a long text', '[[ then a long text'],
  ])('an unclosed placeholder is reported, and not sent as text: %s', (source, start) => {
    expect(parse(source).unclosed).toEqual([start.slice(0, 20)]);
  });

  test.each(['[name]', 'a [b] ]] c', '[ [name] ]', 'x[0]'])(
    'single brackets are not a placeholder: %s',
    (source) => {
      expect(parse(source)).toEqual({ template: [text(source)], unknown: [], unclosed: [] });
    },
  );
});

describe('render', () => {
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
  ])('values are inserted: %s', (source, result) => {
    expect(filled(source)).toBe(result);
  });

  test('values and fallbacks are escaped, and the text around them is not', () => {
    const { template } = parse('<b>[[Straße]]</b> [[First Name|<you>]]');
    expect(render(template, valueIn, (value) => value.replaceAll('<', '&lt;'))).toBe(
      '<b>&lt;ß></b> &lt;you>',
    );
  });

  test('any value is inserted exactly as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (one, other) => {
        const anyValue = (name: string) => (name === 'name' ? one : other);
        expect(render(parse('a[[name]]b[[a.b]]c').template, anyValue)).toBe(`a${one}b${other}c`);
      }),
    );
  });
});

test('the segments of a template without values are its source again', () => {
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

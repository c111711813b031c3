import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html } from '../../src/report/html/html.ts';

test('a text is escaped, in an element and in an attribute', () => {
  const hostile = `"><script>alert('&')</script>`;
  expect(html`<a title="${hostile}">${hostile}</a>`.text).toBe(
    '<a title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;">&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</a>',
  );
});

test('no text adds an element, an attribute or a comment', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { text: page } = html`<p title="${text}">${text}</p>`;
      expect(page.match(/[<>]/g)).toHaveLength(4);
      expect(page.match(/"/g)).toHaveLength(2);
    }),
  );
});

test('characters that change the direction of text, or control a terminal, are shown by their codes', () => {
  expect(html`${'a\u202eb\u0007'}`.text).toBe('a\\u202eb\\x07');
});

test('markup and lists of it are put in as they are, and nothing is put in for what is missing', () => {
  const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${items}${undefined}${null}${false}${0}</ul>`.text).toBe(
    '<ul><li>a</li><li>&lt;b&gt;</li>0</ul>',
  );
});

test('a text in a tag outside quotes is refused, because escaping would not be enough', () => {
  const text = 'x onclick=alert(1)';
  expect(() => html`<a title=${text}>`).toThrow('quote the attribute');
  expect(() => html`<a ${text}>`).toThrow('quote the attribute');
  expect(html`<a${html` title="${text}"`}${false}>`.text).toBe('<a title="x onclick=alert(1)">');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emailPart } from '../../../src/report/html/preview-email.ts';

/** The HTML as its frame gets it, after what Volley writes before it. */
function shown(html: string): string {
  const page = emailPart({
    channel: 'email',
    destination: { Recipient: 'ann@example.com' },
    fields: { MessageHTML: html },
    sms: null,
    keypads: [],
    files: [],
    audio: {},
    placeholders: null,
  }).text;
  const source = /srcdoc="([^"]*)"/.exec(page)?.[1] ?? '';
  const read = source
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
  return read.slice(read.indexOf('</style>') + '</style>'.length);
}

const connecting = /<\/?(?:link|base|meta|object|embed|iframe|frame|frameset)\b/i;

test.each([
  ['a tag', 'a<link rel=preconnect href=//x>b', 'a b'],
  ['an end tag', '<iframe src=x>no frames</iframe>', ' no frames '],
  ['a tag in a tag', '<li<link>nk rel=preconnect href=//x>b', '<li nk rel=preconnect href=//x>b'],
  ['a tag right after a bracket', '<<link>link href=//x>', '< link href=//x>'],
  ['a tag in a tag of the same kind', '<link <link> href=//x>b', '  href=//x>b'],
  ['a tag without an end', 'a<p>b<META http-equiv=refresh content="0;//x"', 'a<p>b '],
  ['another element', '<linked>a</linked><a href=//x>b</a>', '<linked>a</linked><a href=//x>b</a>'],
])('the HTML of a preview has no element that connects: %s', (_, html, left) => {
  expect(shown(html)).toBe(left);
});

const pieces = [
  '<',
  '</',
  '>',
  'link',
  'LINK',
  'base',
  'meta',
  'iframe',
  'nk',
  'li',
  ' ',
  '/',
  '"',
  '<!--',
  'x',
];

test('no HTML has an element that connects when it is shown, however its pieces stand together', () => {
  const html = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((all) => all.join(''));
  fc.assert(
    fc.property(html, (text) => {
      expect(shown(text)).not.toMatch(connecting);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['without an end', '<link '.repeat(160_000)],
  ['in each other', `${'<link '.repeat(80_000)}${'>'.repeat(80_000)}`],
  ['that form others when they are left out', `${'<li'.repeat(80_000)}${'<link>nk>'.repeat(80_000)}`],
])('the HTML of a preview is read once: tags %s', (_, html) => {
  expect(shown(html)).not.toMatch(connecting);
});

test('a page shows the first million characters of a longer HTML, and says so', () => {
  const html = `<p>${'x'.repeat(1_000_000)}end</p>`;
  expect(shown(html)).toBe(html.slice(0, 1_000_000));
  const fields = { MessageHTML: html };
  const message = { channel: 'email', destination: { Recipient: 'ann@example.com' }, fields } as const;
  expect(
    emailPart({ ...message, sms: null, keypads: [], files: [], audio: {}, placeholders: null }).text,
  ).toContain('Only the first 1,000,000 characters are shown.');
});

import { expect, test } from 'vitest';
import { ownPath } from '../../../src/dashboard/paths.ts';

test.each(['/', '/runs/261123-7k2mq', '/billing?by=SubAccount&from=2026-11-01', '/recipients?q=%2B61412'])(
  'the path %s of this server stays',
  (path) => expect(ownPath(path)).toBe(path),
);

test.each([
  '//evil.example',
  '/\\evil.example',
  '\\/evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '/\t/evil.example',
  '/\r\nSet-Cookie: a=b',
  `/${'x'.repeat(3_000)}`,
  '',
  undefined,
  ['/'],
])('a place of another server becomes the start page (%#)', (given) => expect(ownPath(given)).toBe('/'));

test('dots do not lead to another server', () => {
  expect(ownPath('/..//evil.example')).toBe('/');
  expect(ownPath('/.//evil.example')).toBe('/');
});

import { expect, test } from 'vitest';
import { createAddressList } from '../../src/platform/address-list.ts';

const list = createAddressList(['203.0.113.0/24', '192.0.2.7', '2001:db8::/32', '::ffff:198.51.100.0/120']);

test.each([
  '203.0.113.0',
  '203.0.113.255',
  '192.0.2.7',
  '::ffff:192.0.2.7',
  '::ffff:cb00:7109',
  '2001:db8:ffff::1',
  '2001:0DB8:0:0::1',
  '198.51.100.9',
])('the list contains %s', (address) => {
  expect(list.has(address)).toBe(true);
});

test.each([
  '203.0.112.255',
  '203.0.114.0',
  '192.0.2.8',
  '2001:db9::1',
  '::203.0.113.9',
  'fe80::1%lo',
  '203.0.113.9:443',
  '',
  'unknown',
  '0313.0.113.9',
])('the list does not contain %j', (address) => {
  expect(list.has(address)).toBe(false);
});

test('a range of all IPv4 or IPv6 addresses contains no address of the other version, except mapped ones', () => {
  const all = createAddressList(['0.0.0.0/0']);
  expect(['198.51.100.1', '::ffff:198.51.100.1', '2001:db8::1'].map(all.has)).toEqual([true, true, false]);
});

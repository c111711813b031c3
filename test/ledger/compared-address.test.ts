import fc from 'fast-check';
import { expect, test } from 'vitest';
import { comparedAddress, comparedServiceAddress } from '../../src/domain/compared-address.ts';
import * as sql from '../../src/ledger/compared-address.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();

test.each([
  ['Ann@Example.ORG', 'ann@example.org', 'ann@example.org'],
  ['+64211234567', '+64211234567', '64211234567'],
  ['++64211234567', '++64211234567', '64211234567'],
  ['64211234567', '64211234567', '64211234567'],
  ['+Ann+list@example.org', '+ann+list@example.org', 'ann+list@example.org'],
  ['', '', ''],
])("%j compares as %j, and with the service's address as %j", (address, ours, theirs) => {
  expect(comparedAddress(address)).toBe(ours);
  expect(comparedServiceAddress(address)).toBe(theirs);
});

test('the ledger compares addresses like the rest of Volley', async () => {
  const ascii = fc.string({
    unit: fc.integer({ min: 1, max: 126 }).map((code) => String.fromCharCode(code)),
  });
  const addresses = fc.sample(fc.oneof(ascii, fc.stringMatching(/^\+{0,3}[A-Za-z0-9+@.]{0,20}$/)), 500);
  const { rows } = await opened.ledger.pool.query<{ address: string; ours: string; theirs: string }>(
    `
    SELECT address, ${sql.comparedAddress('address')} AS ours, ${sql.comparedServiceAddress('address')} AS theirs
    FROM unnest($1::text[]) AS address
    `,
    [addresses],
  );
  expect(rows).toHaveLength(addresses.length);
  for (const { address, ours, theirs } of rows) {
    expect([ours, theirs]).toEqual([comparedAddress(address), comparedServiceAddress(address)]);
  }
});

import { expect, test } from 'vitest';
import { createAddressReader } from '../../src/contacts/address.ts';
import { readInvoice } from '../../src/contacts/invoice-file.ts';
import { comparedServiceAddress } from '../../src/domain/compared-address.ts';

test.each([
  ['Ann@Example.org', 'Ann@example.org'],
  ['+Ann@Example.org', '+Ann@example.org'],
  ['64 21 123 4567', '+64211234567'],
  ['0064211234567', '+64211234567'],
])('an invoice line for %s is compared as %s', async (destination, recipient) => {
  const readAddress = createAddressReader('sms', 'NZ');
  if (!readAddress) throw new Error('NZ has no phone numbers');
  async function* batches() {
    yield [{ kind: 'row' as const, line: 2, values: ['M1', destination, '0.05'] }];
  }
  const place = (line: number): string => `invoice.csv:${line}`;
  const file = {
    name: 'invoice.csv',
    place,
    header: ['MessageID', 'Destination', 'Price'],
    batches: batches(),
  };
  for await (const lines of readInvoice(file, { columns: {}, decimal: 'point', readAddress })) {
    expect(lines).toMatchObject([{ address: comparedServiceAddress(recipient) }]);
  }
  expect.assertions(1);
});

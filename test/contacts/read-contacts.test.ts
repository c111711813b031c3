import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { composeVariants } from '../../src/campaign/compose-variants.ts';
import type { SendingAccount } from '../../src/campaign/sending-account.ts';
import { createAddressReader } from '../../src/contacts/address.ts';
import { type ContactFile, openContactFile } from '../../src/contacts/contact-file.ts';
import { readContacts } from '../../src/contacts/read-contacts.ts';
import type { Contact } from '../../src/domain/contacts.ts';
import { bytesOf } from '../support/bytes.ts';
import { collectBatches } from '../support/collect.ts';

const header = ['phone', 'name', 'code'];

const account: SendingAccount = { interface: 'rest-2.02', format: 'json', loopback: false };

const campaign = `
campaign: test
account: main
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: phone, First Name: name } }
message: { Message: "Hi [[First Name]]", ChargeCode: "C-[[code]]" }
`;

type GivenRow = { line: number; values: string[] };

/** A contact file with these rows on these lines. */
function openGiven(rows: readonly GivenRow[]): Promise<ContactFile> {
  const lines = [header.join(',')];
  for (const { line, values } of rows) lines[line - 1] = values.join(',');
  const text = Array.from(lines, (line) => `${line ?? ''}\n`).join('');
  return openContactFile(bytesOf(text), 'contacts.csv');
}

function contactsOf(...rows: GivenRow[]): Promise<Contact[]> {
  return contactsWith(campaign, rows);
}

async function contactsWith(written: string, rows: GivenRow[], onFiltered?: () => void): Promise<Contact[]> {
  const composed = composeVariants(readCampaign(written, 'c.yaml'), account, header);
  const readAddress = createAddressReader('sms', 'AU');
  if (!readAddress) return expect.fail('AU has phone numbers');
  return collectBatches(readContacts([await openGiven(rows)], composed, readAddress, { onFiltered }));
}

describe('readContacts', () => {
  test('a row becomes a contact with its normalised and original address and its mapped fields', async () => {
    expect(await contactsOf({ line: 2, values: ['0458-665-290', 'Ann', '7'] })).toEqual([
      {
        kind: 'contact',
        file: 0,
        line: 2,
        address: '+61458665290',
        originalAddress: '0458-665-290',
        envelope: {
          fields: { Message: 'Hi [[First Name]]', ChargeCode: 'C-7' },
          keypads: [],
          files: [],
          audio: {},
        },
        destination: { 'First Name': 'Ann' },
      },
    ]);
  });

  test('an invalid row is rejected with its line, column and reason, and the others are read', async () => {
    const contacts = await contactsOf(
      { line: 2, values: ['n/a', 'Ann', '7'] },
      { line: 3, values: ['0458665290', 'Ann'] },
      { line: 4, values: ['0458665290', 'Ann', '7', ''] },
      { line: 5, values: ['0458665290', '[[STOP]]', '7'] },
      { line: 9, values: ['0458665290', '', ''] },
    );
    expect(contacts.slice(0, 4)).toEqual([
      {
        kind: 'rejected',
        file: 0,
        line: 2,
        column: 'phone',
        reason: 'invalid',
        detail: '"n/a" is not a phone number',
      },
      {
        kind: 'rejected',
        file: 0,
        line: 3,
        column: '',
        reason: 'invalid',
        detail: '2 values, but the header has 3 columns',
      },
      {
        kind: 'rejected',
        file: 0,
        line: 4,
        column: '',
        reason: 'invalid',
        detail: '4 values, but the header has 3 columns',
      },
      {
        kind: 'rejected',
        file: 0,
        line: 5,
        column: 'name',
        reason: 'invalid',
        detail: 'contains "[[", which the service would read as a placeholder',
      },
    ]);
    expect(contacts[4]).toMatchObject({
      kind: 'contact',
      file: 0,
      line: 9,
      envelope: { fields: { ChargeCode: 'C-' } },
    });
  });
});

describe('the country of a row', () => {
  const withCountry = campaign.replace('country: AU', 'country: AU, countryColumn: code');
  const rowsOf = (...countries: string[]) =>
    countries.map((country, index) => ({ line: index + 2, values: ['021 123 4567', 'Ann', country] }));

  test("a row's country takes precedence over the campaign's, as a code or as a name", async () => {
    const contacts = await contactsWith(withCountry, rowsOf('NZ', ' nz ', 'New Zealand'));
    const address = '+64211234567';
    expect(contacts).toMatchObject([{ address }, { address }, { address }]);
  });

  test("an empty country means the campaign's", async () => {
    const rows = [{ line: 2, values: ['0458665290', 'Ann', ' '] }];
    expect(await contactsWith(withCountry, rows)).toMatchObject([{ address: '+61458665290' }]);
  });

  test('a row with an unknown country is rejected', async () => {
    expect(await contactsWith(withCountry, rowsOf('ZZ'))).toEqual([
      {
        kind: 'rejected',
        file: 0,
        line: 2,
        column: 'code',
        reason: 'invalid',
        detail: '"ZZ" is not a country with phone numbers; expected a code such as NZ, or its English name',
      },
    ]);
  });
});

describe('rows that the campaign excludes', () => {
  const filtered = campaign.replace('country: AU', 'country: AU, where: [{ column: code, in: ["7", "8"] }]');

  test('an excluded row is neither a contact nor rejected, even with invalid values, and is counted', async () => {
    const rows = [
      { line: 2, values: ['0458665290', 'Ann', '7'] },
      { line: 3, values: ['0458665291', 'Bob', '9'] },
      { line: 4, values: ['n/a', '[[STOP]]', ''] },
      { line: 5, values: ['0458665292', 'Cy', '8'] },
    ];
    let count = 0;
    const contacts = await contactsWith(filtered, rows, () => {
      count++;
    });
    expect(contacts.map(({ kind, line }) => [kind, line])).toEqual([
      ['contact', 2],
      ['contact', 5],
    ]);
    expect(count).toBe(2);
  });

  test('a row with missing values is rejected rather than excluded', async () => {
    const rows = [
      { line: 2, values: ['0458665290', '9'] },
      { line: 3, values: ['0458665290', 'Ann', '7'] },
    ];
    expect(await contactsWith(filtered, rows)).toMatchObject([
      { kind: 'rejected', line: 2, detail: '2 values, but the header has 3 columns' },
      { kind: 'contact', line: 3 },
    ]);
  });
});

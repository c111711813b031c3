import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { compose } from '../../src/campaign/composition.ts';
import type { CampaignTarget } from '../../src/campaign/target.ts';
import { addressReader } from '../../src/contacts/address.ts';
import { readContacts } from '../../src/contacts/contacts.ts';
import type { Contact } from '../../src/domain.ts';
import { collect } from '../support/collect.ts';

const header = ['phone', 'name', 'code'];

const target: CampaignTarget = { interface: 'rest-2.02', format: 'json', loopback: false };

const campaign = `
campaign: test
account: main
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: phone, First Name: name } }
message: { Message: "Hi [[First Name]]", ChargeCode: "C-[[code]]" }
`;

async function contactsOf(...rows: { line: number; values: string[] }[]): Promise<Contact[]> {
  const composition = compose(readCampaign(campaign, 'c.yaml'), target, header);
  const readAddress = addressReader('sms', 'AU');
  if (!readAddress) return expect.fail('AU has phone numbers');
  async function* source() {
    yield* rows;
  }
  return collect(readContacts({ header, rows: source() }, composition, readAddress));
}

describe('a row of the contact file', () => {
  test('becomes a contact: address normalised, the original kept, fields mapped', async () => {
    expect(await contactsOf({ line: 2, values: ['0458-665-290', 'Ann', '7'] })).toEqual([
      {
        kind: 'contact',
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

  test('is rejected with its line, column and reason, and the rest goes on', async () => {
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
        line: 2,
        column: 'phone',
        reason: 'invalid',
        detail: '"n/a" is not a phone number',
      },
      {
        kind: 'rejected',
        line: 3,
        column: '',
        reason: 'invalid',
        detail: '2 values, where the header has 3 columns',
      },
      {
        kind: 'rejected',
        line: 4,
        column: '',
        reason: 'invalid',
        detail: '4 values, where the header has 3 columns',
      },
      {
        kind: 'rejected',
        line: 5,
        column: 'name',
        reason: 'invalid',
        detail: 'contains "[[", which the service would read as a placeholder of its own',
      },
    ]);
    expect(contacts[4]).toMatchObject({
      kind: 'contact',
      line: 9,
      envelope: { fields: { ChargeCode: 'C-' } },
    });
  });
});

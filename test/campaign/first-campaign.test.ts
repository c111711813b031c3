import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { compose } from '../../src/campaign/composition.ts';
import {
  countNationalNumbers,
  firstCampaignYaml,
  firstChannels,
  guessFirstChannel,
  guessFirstRecipient,
} from '../../src/campaign/first-campaign.ts';
import { examples } from '../support/examples.ts';

test('the channel is SMS where a column is named like a phone number, otherwise e-mail', () => {
  expect(guessFirstChannel(['Name', 'E-Mail', 'Mobile Phone'])).toBe('sms');
  expect(guessFirstChannel(['Name', 'E-Mail'])).toBe('email');
  expect(guessFirstChannel(['Name', 'Handy'])).toBe(undefined);
  expect(guessFirstRecipient('email', ['Name', 'E-Mail', 'Mobile Phone'])).toBe('E-Mail');
});

test('numbers with a country code, and empty ones, need no country', () => {
  const rows = ['+61491570006', ' tel:+61 491 570 156', '0061491570157', '', '0491 570 158', '491570159'];
  const sample = { header: ['mobile'], rows: rows.map((value) => [value]) };
  expect(countNationalNumbers(sample, 'mobile')).toBe(2);
});

test('a column name with a line break adds no key to the first campaign', () => {
  const header = ['mobile', 'a\nnotify: [{ command: touch x }]\n#', 'b\u2028c', 'd\u202ee'];
  const first = {
    name: 'first',
    account: 'sandbox',
    channel: 'sms',
    file: 'contacts.csv',
    recipient: 'mobile',
    country: undefined,
    header,
  } as const;
  const yaml = firstCampaignYaml(first);
  expect(readCampaign(yaml, 'first.yaml').value.notify).toBe(undefined);
  expect(yaml).toContain('Message: "Hello, this is our first message."');
});

const account = { interface: 'rest-2.02', format: 'json', loopback: true } as const;

test('the first campaign is valid for a contact file with any column names', () => {
  const column = fc
    .oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
      fc.constantFrom(
        'yes',
        'null',
        '1e3',
        '#x',
        'a: b',
        "it's",
        '"q"',
        '[[x]]',
        'a|b',
        'First Name',
        'Name',
        '~',
      ),
    )
    .map((text) => text.trim())
    .filter((text) => text !== '' && !/[\p{Cc}\p{Cs}\p{Cn}\p{Cf}\p{Co}]/u.test(text));
  const anyHeader = fc.uniqueArray(column, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(anyHeader, fc.constantFrom(...firstChannels), (header, channel) => {
      const recipient = header.find((each) => !each.includes('[['));
      fc.pre(recipient !== undefined);
      const file = 'contacts/x y.csv';
      const first = { name: 'first', account: 'sandbox', channel, file, recipient, country: 'NO', header };
      const campaign = readCampaign(firstCampaignYaml(first), 'first.yaml');
      const { recipientColumn, usedColumns } = compose(campaign, account, header);
      expect(recipientColumn).toBe(recipient);
      const greets = header.some((each) => each !== recipient && !/[[\]|]/.test(each));
      expect(usedColumns.filter((each) => each !== recipient)).toHaveLength(greets ? 1 : 0);
    }),
    examples(200),
  );
});

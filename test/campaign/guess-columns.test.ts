import { describe, expect, test } from 'vitest';
import { guessColumns } from '../../src/campaign/guess-columns.ts';
import type { Channel, DestinationField } from '../../src/domain/message.ts';

describe('guessColumns of the recipient', () => {
  test.each<[Channel, string, string]>([
    ['sms', 'mobile', 'Mobile'],
    ['sms', 'mobile', 'MOBILE_NUMBER'],
    ['sms', 'mobile', 'cell phone'],
    ['sms', 'mobile', 'msisdn'],
    ['voice', 'a telephone', 'Phone-Number'],
    ['tts', 'a telephone', 'tel'],
    ['fax', 'a fax', 'Fax No'],
    ['email', 'an address', 'E-Mail'],
    ['email', 'an address', 'Email Address'],
    ['email', 'the word itself', 'recipient'],
  ])('for %s, the recipient is guessed from the name of %s: %s', (channel, _, column) => {
    expect(guessColumns('Recipient', channel, ['id', column, 'city'])).toEqual([column]);
  });

  test.each<[Channel, string]>([
    ['sms', 'phone2'],
    ['fax', 'phone1'],
    ['email', 'email'],
  ])('for %s, the recipient is guessed from %s in a file with addresses of each kind', (channel, column) => {
    expect(guessColumns('Recipient', channel, ['phone1', 'phone2', 'email', 'web'])).toEqual([column]);
  });

  test('the more specific of two names is guessed', () => {
    expect(guessColumns('Recipient', 'sms', ['phone', 'mobile'])).toEqual(['mobile']);
  });

  test('two equally likely names are ambiguous', () => {
    expect(guessColumns('Recipient', 'sms', ['Mobile', 'cell', 'phone'])).toEqual(['Mobile', 'cell']);
    expect(guessColumns('Recipient', 'sms', ['Mobile', 'mobile'])).toEqual(['Mobile', 'mobile']);
  });

  test.each(['immobile', 'mobile2', 'mobile?', 'phone_notes', 'constructor', ''])(
    'a name that only resembles a usual one is not guessed: %j',
    (column) => {
      expect(guessColumns('Recipient', 'sms', [column])).toEqual([]);
    },
  );
});

describe('guessColumns of another field', () => {
  test.each<[DestinationField, string]>([
    ['First Name', 'first_name'],
    ['First Name', 'GivenName'],
    ['Last Name', 'surname'],
    ['Last Name', 'Family Name'],
    ['Company', 'company_name'],
    ['Attention', 'Full Name'],
    ['Attention', 'contact'],
  ])('%s is guessed from %s', (field, column) => {
    expect(guessColumns(field, 'sms', [column, 'id'])).toEqual([column]);
  });

  test("a column with the field's own name comes before any other", () => {
    expect(guessColumns('Company', 'sms', ['organisation', 'Company'])).toEqual(['Company']);
  });

  test('custom fields are never guessed', () => {
    expect(guessColumns('Custom1', 'sms', ['Custom1', 'custom'])).toEqual([]);
  });
});

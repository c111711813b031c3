import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressReader } from '../../src/contacts/address.ts';
import type { Channel } from '../../src/domain.ts';

function read(text: string, country?: string, channel: Channel = 'sms') {
  const reader = addressReader(channel, country);
  if (!reader) return expect.fail(`no reader for ${country}`);
  return reader(text);
}

const valid = (address: string) => ({ kind: 'valid', address });
const invalid = (detail: string) => ({ kind: 'invalid', detail });

describe('a phone number becomes E.164', () => {
  test.each([
    '0458-665-290',
    '0458 665 290',
    '0458.665.290',
    '(0458) 665 290',
    ' 0458665290 ',
    '+61 458 665 290',
    '+61 (0)458 665 290',
    '458665290',
    '0011 61 458 665 290',
    '０４５８６６５２９０',
  ])('%s, in AU', (text) => {
    expect(read(text, 'AU')).toEqual(valid('+61458665290'));
  });

  test('of another country, when it says so itself', () => {
    expect(read('+64 21 123 4567', 'AU')).toEqual(valid('+64211234567'));
    expect(read('+61458665290')).toEqual(valid('+61458665290'));
  });

  test.each(['fax', 'voice', 'tts'] as const)('for %s as well', (channel) => {
    expect(read('02 9374 4000', 'AU', channel)).toEqual(valid('+61293744000'));
  });
});

describe('a phone number is refused with what it is', () => {
  test.each(['', ' ', '\t'])('when there is none: %j', (text) => {
    expect(read(text, 'AU')).toEqual(invalid('no phone number'));
  });

  test('when it has no country code and the campaign names no country', () => {
    expect(read('0458665290')).toEqual(
      invalid(
        '"0458665290" is not a phone number (no country code, and the campaign sets no "contacts.country")',
      ),
    );
  });

  test.each([
    ...['a', '+', 'n/a', '0458-CALL-NOW', 'O458665290', '4.58665E+08', '1'],
    ...['0458665290 / 0411222333', '0458 665 290 (mob)', 'call 0458 665 290', '0458665290\n0411222333'],
  ])('when it is something else, or has something around it: %j', (text) => {
    expect(read(text, 'AU')).toEqual(invalid(`"${text}" is not a phone number`));
  });

  test.each([
    ['0458665290 ext 5', '5'],
    ['0458665290;0411222333', '0411222333'],
    ['0458665290#7', '7'],
  ])('when a part of it would be lost: %s', (text, rest) => {
    expect(read(text, 'AU')).toEqual(invalid(`"${text}" has an extension, "${rest}", that would be lost`));
  });

  test('when nobody can have it', () => {
    expect(read('0458 665 2901', 'AU')).toEqual(invalid('"0458 665 2901" is not a number in use in AU'));
    expect(read('+61 000 000 000')).toEqual(
      invalid('"+61 000 000 000" is not a number in use in its country'),
    );
  });

  test('there is no reader for a country without phone numbers', () => {
    for (const country of ['ZZ', 'XX', 'toString']) expect(addressReader('sms', country)).toBeUndefined();
  });
});

describe('an e-mail address', () => {
  test.each([
    ['ann@example.com', 'ann@example.com'],
    [' Ann.Lee@Example.COM ', 'Ann.Lee@example.com'],
    ["o'neil+x@mail.example.co.uk", "o'neil+x@mail.example.co.uk"],
  ])('%j is taken, its domain in small letters', (text, address) => {
    expect(read(text, undefined, 'email')).toEqual(valid(address));
  });

  test.each([
    ...['ann', 'ann@', '@example.com', 'ann@example', 'a b@example.com', 'Ann <ann@example.com>'],
    ...[
      'a@example.com;b@example.com',
      'a@example.com, b@example.com',
      'a@b@example.com',
      'a@example.com\nBcc: b@example.com',
    ],
  ])('%j is refused', (text) => {
    expect(read(text, undefined, 'email')).toEqual(invalid(`"${text}" is not an e-mail address`));
  });

  test('is refused when there is none', () => {
    expect(read(' ', undefined, 'email')).toEqual(invalid('no e-mail address'));
  });

  test('needs no country, and does not mind one', () => {
    expect(read('ann@example.com', 'AU', 'email')).toEqual(valid('ann@example.com'));
  });
});

test('an address is in its one form: read again, it stays the same', () => {
  const number = fc.tuple(
    fc.constantFrom('0458', '0412', '+61 2 9374', '+64 21'),
    fc.integer({ min: 0, max: 999_999 }),
  );
  fc.assert(
    fc.property(number, ([prefix, rest]) => {
      const once = read(`${prefix} ${rest}`, 'AU');
      if (once.kind === 'valid') expect(read(once.address)).toEqual(once);
    }),
  );
});

test('any text at all is an address or is refused with a sentence', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom<Channel>('sms', 'email'), (text, channel) => {
      const address = read(text, 'AU', channel);
      if (address.kind === 'valid')
        expect(address.address).toMatch(channel === 'sms' ? /^\+\d{7,15}$/ : /^\S+@\S+$/);
      else expect(address.detail).not.toBe('');
    }),
  );
});

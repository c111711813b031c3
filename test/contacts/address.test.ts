import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json' with { type: 'json' };
import { getCountries, getExampleNumber } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { createAddressReader } from '../../src/contacts/address.ts';
import type { Channel } from '../../src/domain/message.ts';
import { anyCharacter } from '../support/any-character.ts';

function read(text: string, country?: string, channel: Channel = 'sms') {
  const reader = createAddressReader(channel, country);
  if (!reader) return expect.fail(`no reader for ${country}`);
  return reader(text);
}

const valid = (address: string) => ({ kind: 'valid', address });
const invalid = (detail: string) => ({ kind: 'invalid', detail });

describe('createAddressReader for phone numbers', () => {
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
  ])('%s becomes E.164 in AU', (text) => {
    expect(read(text, 'AU')).toEqual(valid('+61458665290'));
  });

  test('a number with the code of another country becomes E.164', () => {
    expect(read('+64 21 123 4567', 'AU')).toEqual(valid('+64211234567'));
    expect(read('+61458665290')).toEqual(valid('+61458665290'));
  });

  test.each(['fax', 'voice', 'tts'] as const)('a number becomes E.164 for %s too', (channel) => {
    expect(read('02 9374 4000', 'AU', channel)).toEqual(valid('+61293744000'));
  });
});

describe('mobile numbers of every country', () => {
  const countries = getCountries();

  test('the test knows the mobile numbers of all countries', () => {
    expect(countries.length).toBeGreaterThan(200);
  });

  test.each(countries)('a mobile number of %s becomes the same E.164 in every form', (country) => {
    const example = getExampleNumber(country, examples);
    if (!example) return expect.fail('no example');
    expect(read(example.formatNational(), country)).toEqual(valid(example.number));
    // A campaign for another country reads the international number alike.
    for (const written of [
      example.formatInternational(),
      example.number,
      example.formatInternational().replaceAll(' ', '-'),
    ])
      expect(read(written, country === 'AU' ? 'NZ' : 'AU')).toEqual(valid(example.number));
  });
});

describe("the contact's own country", () => {
  test("the contact's country takes precedence over the campaign's", () => {
    const reader = createAddressReader('sms', 'AU');
    expect(reader?.('021 123 4567', 'NZ')).toEqual(valid('+64211234567'));
    expect(reader?.('0458 665 290')).toEqual(valid('+61458665290'));
  });

  test("the contact's country is enough if the campaign has none", () => {
    expect(createAddressReader('sms', undefined)?.('021 123 4567', 'NZ')).toEqual(valid('+64211234567'));
  });
});

describe('createAddressReader for SMS', () => {
  test.each([
    ['02 9374 4000', 'AU', 'a landline in AU'],
    ['1800 123 456', 'AU', 'a toll-free number in AU'],
    ['1900 123 456', 'AU', 'a premium-rate number in AU'],
    ['+64 3 479 1234', 'AU', 'a landline in NZ'],
    ['020 7946 0958', 'GB', 'a landline in GB'],
  ])('an SMS to %s in %s is refused: it is %s', (text, country, line) => {
    expect(read(text, country)).toEqual(invalid(`"${text}" is ${line}`));
  });

  test('an SMS to a landline is valid if the campaign allows landlines', () => {
    expect(createAddressReader('sms', 'AU', 'allow')?.('02 9374 4000')).toEqual(valid('+61293744000'));
  });

  test('an SMS to a number of an ambiguous type is valid', () => {
    expect(read('(201) 555-0123', 'US')).toEqual(valid('+12015550123'));
  });

  test.each(['fax', 'voice', 'tts'] as const)('%s can go to landlines and toll-free numbers', (channel) => {
    expect(read('1800 123 456', 'AU', channel)).toEqual(valid('+611800123456'));
  });
});

describe('invalid phone numbers', () => {
  test.each(['', ' ', '\t'])('a missing phone number is invalid: %j', (text) => {
    expect(read(text, 'AU')).toEqual(invalid('no phone number'));
  });

  test('a phone number without a country code is invalid if the campaign has no country', () => {
    expect(read('0458665290')).toEqual(
      invalid(
        '"0458665290" is not a phone number (no country code, and the campaign sets no "contacts.country")',
      ),
    );
  });

  test.each([
    'a',
    '+',
    'n/a',
    '0458-CALL-NOW',
    'O458665290',
    '1',
    '0458665290 / 0411222333',
    '0458 665 290 (mob)',
    'call 0458 665 290',
    'доб 5',
  ])('text that is not exactly one phone number is invalid: %j', (text) => {
    expect(read(text, 'AU')).toEqual(invalid(`"${text}" is not a phone number`));
  });

  test.each([
    ['0458665290 ext 5', '5'],
    ['0458665290;0411222333', '0411222333'],
    ['0458665290#7', '7'],
  ])('a phone number with a part that would be lost is invalid: %s', (text, rest) => {
    expect(read(text, 'AU')).toEqual(invalid(`"${text}" has an extension, "${rest}", which would be lost`));
  });

  test.each([
    [
      '0458\u202e665290',
      '"0458<U+202E RIGHT-TO-LEFT OVERRIDE>665290" contains U+202E RIGHT-TO-LEFT OVERRIDE',
    ],
    ['0458665290\n0411222333', '"0458665290<U+000A LINE FEED>0411222333" contains U+000A LINE FEED'],
    ['0458 665 29\u2070', '"0458 665 29⁰" contains U+2070'],
    ['☎ 0458 665 290', '"☎ 0458 665 290" contains U+260E'],
    ['①458665290', '"①458665290" contains U+2460'],
  ])(
    'a phone number with a foreign character is invalid, and the error names the character: %j',
    (text, message) => {
      expect(read(text, 'AU')).toEqual(invalid(`${message}, which cannot be part of a phone number`));
    },
  );

  test.each([
    ['6.4215E+10', 'was converted to scientific notation by a spreadsheet, so its last digits are lost.'],
    ['4,58665E+08', 'was converted to scientific notation by a spreadsheet'],
    ['="0458665290"', 'is a formula that keeps leading zeros in a spreadsheet.'],
    ['=A2&B2', 'is a formula of a spreadsheet, not its result.'],
    ["'0458665290", 'begins with an apostrophe, which marks text in a spreadsheet.'],
    ["'+61458665290", 'begins with an apostrophe, which marks text in a spreadsheet.'],
    ['#N/A', 'is an error value of a spreadsheet.'],
    ['########', 'is an error value of a spreadsheet.'],
  ])('a phone number that a spreadsheet damaged is invalid, and the error says how: %s', (text, what) => {
    expect(read(text, 'AU')).toEqual(invalid(expect.stringContaining(`"${text}" ${what}`)));
    if (!text.startsWith("'"))
      expect(read(text, undefined, 'email')).toEqual(invalid(expect.stringContaining(`"${text}" ${what}`)));
  });

  test('a phone number that cannot be in use is invalid', () => {
    expect(read('0458 665 2901', 'AU')).toEqual(invalid('"0458 665 2901" is not a number in use in AU'));
    expect(read('+61 000 000 000')).toEqual(
      invalid('"+61 000 000 000" is not a number in use in its country'),
    );
  });

  test('a country without phone numbers has no reader', () => {
    for (const country of ['ZZ', 'XX', 'toString'])
      expect(createAddressReader('sms', country)).toBeUndefined();
  });
});

describe('createAddressReader for email', () => {
  test.each([
    ['ann@example.com', 'ann@example.com'],
    [' Ann.Lee@Example.COM ', 'Ann.Lee@example.com'],
    ["o'neil+x@mail.example.co.uk", "o'neil+x@mail.example.co.uk"],
  ])('%j is valid, with its domain in lower case', (text, address) => {
    expect(read(text, undefined, 'email')).toEqual(valid(address));
  });

  test.each([
    ['ana@bücher.example', 'ana@xn--bcher-kva.example'],
    ['Ana@BÜCHER.Example', 'Ana@xn--bcher-kva.example'],
    // The same letter as one character and as two.
    ['ana@bu\u0308cher.example', 'ana@xn--bcher-kva.example'],
    ['ana@xn--bcher-kva.example', 'ana@xn--bcher-kva.example'],
    ['ana@почта.рф', 'ana@xn--80a1acny.xn--p1ai'],
    ['ana@XN--80A1ACNY.XN--P1AI', 'ana@xn--80a1acny.xn--p1ai'],
    ['ana@例え.テスト', 'ana@xn--r8jz45g.xn--zckzah'],
  ])('%j is valid, with its domain in ASCII', (text, address) => {
    expect(read(text, undefined, 'email')).toEqual(valid(address));
  });

  test.each([
    'ana@bücher',
    'ana@bü cher.example',
    'ana@bücher.example／x',
    'ana@bücher.example\nBcc: b@example.com',
    'ana@b\u2024\u2024ücher.example',
    'ana@例え.xn--',
    'bücher@example.com',
    'ana＠bücher.example',
    'ana@[::1]',
    'ana@127.0.0.1',
    '"a b"@bücher.example',
    `ana@${'ü'.repeat(10_000)}.example`,
    'a'.repeat(100_000),
    '@'.repeat(100_000),
  ])('%j is invalid, international or not', (text) => {
    expect(read(text, undefined, 'email').kind).toBe('invalid');
  });

  test.each([
    'ann',
    'ann@',
    '@example.com',
    'ann@example',
    'a b@example.com',
    'Ann <ann@example.com>',
    'a@example.com;b@example.com',
    'a@example.com, b@example.com',
    'a@b@example.com',
  ])('%j is invalid', (text) => {
    expect(read(text, undefined, 'email')).toEqual(invalid(`"${text}" is not an e-mail address`));
  });

  test.each([
    [
      'a@example.com\nBcc: b@example.com',
      '"a@example.com<U+000A LINE FEED>Bcc: b@example.com" contains U+000A LINE FEED',
    ],
    [
      'ann@\u202eexample.com',
      '"ann@<U+202E RIGHT-TO-LEFT OVERRIDE>example.com" contains U+202E RIGHT-TO-LEFT OVERRIDE',
    ],
    [
      'ann@bü\u200bcher.example',
      '"ann@bü<U+200B ZERO WIDTH SPACE>cher.example" contains U+200B ZERO WIDTH SPACE',
    ],
  ])('%j is invalid, and the error names its invisible character', (text, message) => {
    expect(read(text, undefined, 'email')).toEqual(
      invalid(`${message}, which cannot be part of an e-mail address`),
    );
  });

  test('a missing e-mail address is invalid', () => {
    expect(read(' ', undefined, 'email')).toEqual(invalid('no e-mail address'));
    const long = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`;
    expect(read(long, undefined, 'email')).toEqual(
      invalid(expect.stringMatching(/longer than an e-mail address can be \(254 characters\)/)),
    );
  });

  test('an e-mail address is read alike with a country and without', () => {
    expect(read('ann@example.com', 'AU', 'email')).toEqual(valid('ann@example.com'));
  });
});

test('a normalised address stays the same when it is read again', () => {
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

test('any text is an address, or is invalid with a sentence', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom<Channel>('sms', 'email'),
      (text, channel) => {
        const address = read(text, 'AU', channel);
        if (address.kind === 'valid')
          expect(address.address).toMatch(channel === 'sms' ? /^\+\d{7,15}$/ : /^\S+@\S+$/);
        else expect(address.detail).not.toBe('');
      },
    ),
  );
});

test('a number that begins with 00 in a country that dials abroad in another way is invalid, and the message has the number to write', () => {
  const read = createAddressReader('sms', 'AU');
  expect(read?.('0061 413 555 123')).toEqual({
    kind: 'invalid',
    detail: '"0061 413 555 123" begins with 00, which is not how AU dials abroad; write +61413555123',
  });
  expect(read?.('0011 61 413 555 123')).toEqual({ kind: 'valid', address: '+61413555123' });
  expect(createAddressReader('sms', 'NZ')?.('0061413555123')).toEqual({
    kind: 'valid',
    address: '+61413555123',
  });
  expect(createAddressReader('sms', undefined)?.('0061413555123')).toEqual({
    kind: 'invalid',
    detail: '"0061413555123" begins with 00, which is not the same everywhere; write +61413555123',
  });
});

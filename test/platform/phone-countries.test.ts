import fc from 'fast-check';
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { expect, test } from 'vitest';
import { createCountryReader, isNumberPrefix, isPhoneCountry } from '../../src/platform/phone-countries.ts';

const codeOf = (country: CountryCode): string => `+${getCountryCallingCode(country)}`;

test('every calling code and every prefix of one can begin a number', () => {
  for (const country of getCountries()) {
    const code = codeOf(country);
    for (let length = 2; length <= code.length; length++) {
      expect([code, isNumberPrefix(code.slice(0, length))]).toEqual([code, true]);
    }
  }
});

test.each(['+6421', '+1242', '+800', '+883510', '+64211234567'])('%s can begin a number', (text) => {
  expect(isNumberPrefix(text)).toBe(true);
});

test.each(['', '+', '6421', '+0', '+064', '+28', '+999', '+210', '+64 21', '+64x', '+642112345678901'])(
  '"%s" cannot begin a number',
  (text) => {
    expect(isNumberPrefix(text)).toBe(false);
  },
);

test.each([
  ['NZ', true],
  ['nz', false],
  ['NZL', false],
  ['XX', false],
  ['constructor', false],
])('isPhoneCountry of %s is %s', (text, expected) => {
  expect(isPhoneCountry(text)).toBe(expected);
});

test('the country reader returns the same country as the library', () => {
  const readers = new Map(getCountries().map((country) => [country, createCountryReader(codeOf(country))]));
  const someNumber = fc.tuple(fc.constantFrom(...getCountries()), fc.stringMatching(/^\d{6,10}$/));
  const holds = (country: CountryCode, number: string): void => {
    expect([number, readers.get(country)?.(number)]).toEqual([
      number,
      parsePhoneNumberFromString(number)?.country,
    ]);
  };
  for (const country of getCountries()) holds(country, getExampleNumber(country, examples)?.number ?? '');
  fc.assert(
    fc.property(someNumber, ([country, national]) => holds(country, `${codeOf(country)}${national}`)),
    { numRuns: 2_000 },
  );
});

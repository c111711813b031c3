import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { isNumberPrefix, isPhoneCountry } from '../../src/platform/phone-countries.ts';

test('every calling code begins numbers, and so does every beginning of one', () => {
  for (const country of getCountries()) {
    const code = `+${getCountryCallingCode(country)}`;
    for (let length = 2; length <= code.length; length++) {
      expect([code, isNumberPrefix(code.slice(0, length))]).toEqual([code, true]);
    }
  }
});

test.each(['+6421', '+1242', '+800', '+883510', '+64211234567'])('%s begins a number', (text) => {
  expect(isNumberPrefix(text)).toBe(true);
});

test.each(['', '+', '6421', '+0', '+064', '+28', '+999', '+210', '+64 21', '+64x', '+642112345678901'])(
  '"%s" begins no number',
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
])('whether %s is a country with phone numbers: %s', (text, expected) => {
  expect(isPhoneCountry(text)).toBe(expected);
});

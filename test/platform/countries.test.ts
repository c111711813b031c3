import { getCountries } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { countryOf } from '../../src/platform/countries.ts';

describe('countryOf', () => {
  test('finds a country by its code in any case', () => {
    for (const code of getCountries()) {
      expect(countryOf(code)).toBe(code);
      expect(countryOf(code.toLowerCase())).toBe(code);
    }
  });

  test('finds every country by its own English name', () => {
    const names = new Intl.DisplayNames('en', { type: 'region' });
    for (const code of getCountries()) expect(countryOf(names.of(code) ?? '')).toBe(code);
  });

  test.each([
    ['new zealand', 'NZ'],
    [' AUSTRALIA ', 'AU'],
    ['UK', 'GB'],
    ['Hong Kong', 'HK'],
    ["Cote d'Ivoire", 'CI'],
    ['Turkiye', 'TR'],
  ])('finds a country by the common name %s', (written, code) => {
    expect(countryOf(written)).toBe(code);
  });
});

test.each([
  '',
  'ZZ',
  'EU',
  'A',
  'Atlantis',
  '61',
  '+61',
  'toString',
  '__proto__',
  'A U',
  'ß',
  'x'.repeat(100_000),
])('countryOf finds no country for %j', (written) => {
  expect(countryOf(written)).toBeUndefined();
});

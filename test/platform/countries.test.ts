import { getCountries } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { countryOf } from '../../src/platform/countries.ts';

describe('a country is known', () => {
  test('by its code, in whatever case', () => {
    for (const code of getCountries()) {
      expect(countryOf(code)).toBe(code);
      expect(countryOf(code.toLowerCase())).toBe(code);
    }
  });

  test('by its English name: every country has one of its own', () => {
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
  ])('as people write it: %s', (written, code) => {
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
])('what is none is not known: %j', (written) => {
  expect(countryOf(written)).toBeUndefined();
});

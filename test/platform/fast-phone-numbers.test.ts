import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json';
import {
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { createFastPhoneParser } from '../../src/platform/fast-phone-numbers.ts';

const countries = getCountries();
const readers = countries.flatMap((country) => {
  const reader = createFastPhoneParser(country);
  return reader ? [{ country, reader }] : [];
});

function libraryReads(text: string, country: (typeof countries)[number]) {
  const number = parsePhoneNumberFromString(text, { defaultCountry: country, extract: false });
  return number?.isValid() && number.ext === undefined
    ? { e164: number.number, type: number.getType() }
    : undefined;
}

test('most countries have a fast parser', () => {
  expect(readers.length).toBeGreaterThan(190);
});

describe('the fast parser agrees with the library', () => {
  test.each(readers)('for numbers of $country', ({ country, reader }) => {
    const example = getExampleNumber(country, examples);
    const written = [
      example?.formatNational() ?? '',
      example?.formatInternational() ?? '',
      example?.number ?? '',
    ];
    // A known number with digits changed, added or removed.
    const near = fc
      .tuple(
        fc.constantFrom(...written),
        fc.nat(30),
        fc.constantFrom('', '0', '1', '9', '00', '-', ' (', '+'),
        fc.nat(3),
      )
      .map(([text, offset, piece, dropped]) => text.slice(0, offset) + piece + text.slice(offset + dropped));
    const digits = fc
      .tuple(
        fc.constantFrom('', '0', '00', '8', `+${getCountryCallingCode(country)}`),
        fc.stringMatching(/^\d{3,13}$/),
      )
      .map((parts) => parts.join(''));
    for (const text of written) {
      const quick = reader(text);
      if (quick) expect(quick).toEqual(libraryReads(text, country));
    }
    fc.assert(
      fc.property(fc.oneof(near, digits), (text) => {
        const quick = reader(text);
        if (quick) expect({ text, ...quick }).toEqual({ text, ...libraryReads(text, country) });
      }),
      { numRuns: 300 },
    );
  });
});

test('the example number of most countries takes the fast path, in national and international form', () => {
  const quick = readers.filter(({ country, reader }) => {
    const example = getExampleNumber(country, examples);
    return example && reader(example.formatNational()) && reader(example.formatInternational());
  });
  expect(quick.length).toBeGreaterThan(readers.length * 0.8);
});

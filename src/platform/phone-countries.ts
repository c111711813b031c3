import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  validatePhoneNumberLength,
} from 'libphonenumber-js/max';
import { createFastPhoneParser } from './fast-phone-numbers.ts';
import { memoize } from './memoize.ts';

/** Expects an ISO 3166 code in capital letters: `NZ`. */
export function isPhoneCountry(text: string): text is CountryCode {
  return isSupportedCountry(text);
}

/** Whether a phone number can begin like this: `+64`, `+6421`. */
export function isNumberPrefix(text: string): boolean {
  if (!/^\+[1-9]\d{0,14}$/.test(text)) return false;
  // A text shorter than a calling code can begin several.
  if (text.length < 4)
    return Array.from({ length: 10 }, (_, digit) => digit).some((digit) => isNumberPrefix(`${text}${digit}`));
  const found = validatePhoneNumberLength(text);
  return found !== 'INVALID_COUNTRY' && found !== 'TOO_LONG' && found !== 'NOT_A_NUMBER';
}

/** The countries of each calling code, such as `64`. */
const countriesOf = Map.groupBy(getCountries(), (country) => String(getCountryCallingCode(country)));

/** `shared`: other countries have the same calling code. */
type CallingCode = { readonly prefix: string; readonly shared: boolean };

export function callingCodeOf(country: CountryCode): CallingCode {
  const code = getCountryCallingCode(country);
  return { prefix: `+${code}`, shared: (countriesOf.get(code)?.length ?? 0) > 1 };
}

/**
 * Parses a full number without its plus sign, such as `64 21 123 4567`. Rejects national numbers that begin
 * with 0.
 */
export function parseNumberWithoutPlus(
  written: string,
): { readonly callingCode: string; readonly country: CountryCode | undefined } | undefined {
  const digits = written.replaceAll(/[\s().-]/g, '').replace(/^00/, '');
  if (!/^[1-9]\d{6,14}$/.test(digits)) return undefined;
  const number = parsePhoneNumberFromString(`+${digits}`, { extract: false });
  return number?.isValid() ? { callingCode: number.countryCallingCode, country: number.country } : undefined;
}

/**
 * The number of `0061 413 …` with a plus sign. In a country that dials abroad with other digits, such as AU (0011), the
 * library does not read it.
 *
 * @returns undefined if the text does not begin with 00, or the rest is no number
 */
export function numberAfterZeros(written: string): string | undefined {
  const digits = written.replaceAll(/[\s().-]/g, '');
  return digits.startsWith('00') && parseNumberWithoutPlus(digits) ? `+${digits.slice(2)}` : undefined;
}

/** Returns the country of an E.164 number, or undefined if it is not known. */
export type CountryReader = (number: string) => CountryCode | undefined;

/**
 * The library assigns a number to the first country that can have it. Its numbers take the fast path; others
 * cost microseconds.
 *
 * @param prefix the calling code with its plus sign
 */
export function createCountryReader(prefix: string): CountryReader {
  const first = (countriesOf.get(prefix.slice(1)) ?? []).flatMap((country) => {
    const read = createFastPhoneParser(country);
    return read ? { country, read } : [];
  })[0];
  return (number) =>
    first?.read(number)?.e164 === number
      ? first.country
      : parsePhoneNumberFromString(number, { extract: false })?.country;
}

const maxCallingCodeLength = 3;
const readerOf = memoize(createCountryReader);
const zonesOf = memoize(
  (country: string): readonly string[] => new Intl.Locale(`und-${country}`).getTimeZones()?.sort() ?? [],
);

/**
 * Returns the possible IANA time zones of a phone number, sorted: those of its country. Area codes are no help: the only
 * table (Google's) puts every Australian mobile in Sydney, and people keep numbers when they move.
 *
 * @param number in E.164
 * @returns nothing if the number has no country, like those of satellites
 */
export function timeZonesOfNumber(number: string): readonly string[] {
  for (let digits = 1; digits <= maxCallingCodeLength; digits++) {
    const code = number.slice(1, 1 + digits);
    const countries = countriesOf.get(code);
    if (countries === undefined) continue;
    const [only, ...others] = countries;
    const country = others.length === 0 ? only : readerOf(`+${code}`)(number);
    return country === undefined ? [] : zonesOf(country);
  }
  return [];
}

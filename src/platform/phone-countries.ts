import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  validatePhoneNumberLength,
} from 'libphonenumber-js/max';
import { createFastPhoneParser } from './fast-phone-numbers.ts';

/** Calling codes, and which countries' they are, by the phone number library. */

/** Whether a text is the code of a country with phone numbers, in capital letters (ISO 3166): `NZ`. */
export function isPhoneCountry(text: string): text is CountryCode {
  return isSupportedCountry(text);
}

/** Whether some phone number could begin so: `+64`, `+6421`. */
export function isNumberPrefix(text: string): boolean {
  if (!/^\+[1-9]\d{0,14}$/.test(text)) return false;
  // What is shorter than a calling code begins several.
  if (text.length < 4)
    return Array.from({ length: 10 }, (_, digit) => digit).some((digit) => isNumberPrefix(`${text}${digit}`));
  const found = validatePhoneNumberLength(text);
  return found !== 'INVALID_COUNTRY' && found !== 'TOO_LONG' && found !== 'NOT_A_NUMBER';
}

/** What all numbers of a country begin with, and whether those of others begin so too. */
export type CallingCode = { readonly prefix: string; readonly shared: boolean };

export function callingCodeOf(country: CountryCode): CallingCode {
  const code = getCountryCallingCode(country);
  return { prefix: `+${code}`, shared: countriesWith(code).length > 1 };
}

/**
 * The country and calling code of a number that is written in full, but for the plus sign: `64 21 123 4567`. A number that
 * begins with a 0 of its own country is none.
 */
export function fullNumberWithoutPlus(
  written: string,
): { readonly callingCode: string; readonly country: CountryCode | undefined } | undefined {
  const digits = written.replaceAll(/[\s().-]/g, '').replace(/^00/, '');
  if (!/^[1-9]\d{6,14}$/.test(digits)) return undefined;
  const number = parsePhoneNumberFromString(`+${digits}`, { extract: false });
  return number?.isValid() ? { callingCode: number.countryCallingCode, country: number.country } : undefined;
}

/** The country of a number in E.164 that begins with a calling code; undefined where it cannot be told. */
export type CountryReader = (number: string) => CountryCode | undefined;

/**
 * The library tries the countries of a calling code in their order, so a number that the first one could have is its.
 * That is told quickly; others cost some microseconds.
 *
 * @param prefix the calling code, with its plus sign
 */
export function countryReader(prefix: string): CountryReader {
  const first = countriesWith(prefix.slice(1)).flatMap((country) => {
    const read = createFastPhoneParser(country);
    return read ? { country, read } : [];
  })[0];
  return (number) =>
    first?.read(number)?.e164 === number
      ? first.country
      : parsePhoneNumberFromString(number, { extract: false })?.country;
}

function countriesWith(code: string): CountryCode[] {
  return getCountries().filter((country) => getCountryCallingCode(country) === code);
}

import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { type CountryReader, countryReader } from './phone-countries.ts';

/**
 * Time zones by phone number: those of its country. Area codes are not asked: the one table there is (that of Google's
 * library) has every Australian mobile in Sydney and every Russian one in Moscow, and numbers are kept when people move.
 */

const maxCallingCodeLength = 3;

/** The countries of each calling code, in the library's order. */
const countriesOf = Map.groupBy(getCountries(), (country) => String(getCountryCallingCode(country)));
const readers = new Map<string, CountryReader>();
const zonesOf = new Map<string, readonly string[]>();

/**
 * The time zones in which the owner of a phone number may be, by the names of the IANA database, in their order.
 *
 * @param number in E.164
 * @returns none where the number is of no country, as those of satellites are
 */
export function zonesOfNumber(number: string): readonly string[] {
  for (let digits = 1; digits <= maxCallingCodeLength; digits++) {
    const code = number.slice(1, 1 + digits);
    const countries = countriesOf.get(code);
    if (countries === undefined) continue;
    const [only, ...others] = countries;
    const country = others.length === 0 ? only : readerOf(`+${code}`)(number);
    return country === undefined ? [] : zonesOfCountry(country);
  }
  return [];
}

function readerOf(prefix: string): CountryReader {
  const known = readers.get(prefix);
  if (known) return known;
  const reader = countryReader(prefix);
  readers.set(prefix, reader);
  return reader;
}

function zonesOfCountry(country: string): readonly string[] {
  const known = zonesOf.get(country);
  if (known) return known;
  const zones = new Intl.Locale(`und-${country}`).getTimeZones()?.sort() ?? [];
  zonesOf.set(country, zones);
  return zones;
}

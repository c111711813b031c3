import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { type CountryReader, createCountryReader } from './phone-countries.ts';

/**
 * Time zones by country. Area codes are no help: the only table (Google's) puts every Australian mobile in
 * Sydney, and people keep numbers when they move.
 */

const maxCallingCodeLength = 3;

const countriesOf = Map.groupBy(getCountries(), (country) => String(getCountryCallingCode(country)));
const readers = new Map<string, CountryReader>();
const zonesOf = new Map<string, readonly string[]>();

/**
 * Returns the possible IANA time zones of a phone number, sorted.
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
    return country === undefined ? [] : zonesOfCountry(country);
  }
  return [];
}

function readerOf(prefix: string): CountryReader {
  const known = readers.get(prefix);
  if (known) return known;
  const reader = createCountryReader(prefix);
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

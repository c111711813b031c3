import { InvalidArgumentError } from 'commander';
import { countryOf, nearestCountry } from '../platform/countries.ts';

/** A two-letter code, of a country by code or English name. */
export function parseCountry(text: string): string {
  const country = countryOf(text);
  if (country) return country;
  throw new InvalidArgumentError(`expected a country with phone numbers, such as NZ.${nearestCountry(text)}`);
}

import { InvalidArgumentError } from 'commander';
import { countryOf, expectedCountry } from '../platform/countries.ts';

export function parseCountry(text: string): string {
  const country = countryOf(text);
  if (country) return country;
  throw new InvalidArgumentError(expectedCountry(text));
}

import { InvalidArgumentError } from 'commander';
import { countryOf, didYouMeanCountry } from '../platform/countries.ts';

export function parseCountry(text: string): string {
  const country = countryOf(text);
  if (country) return country;
  throw new InvalidArgumentError(
    `expected a country with phone numbers, such as NZ.${didYouMeanCountry(text)}`,
  );
}

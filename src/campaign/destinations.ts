import { callingCodeOf, countryReader, isPhoneCountry } from '../platform/phone-countries.ts';

/** Which of the destinations of a rate card a number in E.164 belongs to; undefined: none of them. */
export type DestinationReader = (number: string) => string | undefined;

/**
 * The longest beginning of a number goes before the country. A country with a calling code of its own is told by that;
 * numbers are only looked into where countries share one.
 *
 * @param destinations countries (`NZ`) and beginnings of numbers (`+6421`)
 */
export function destinationReader(destinations: Iterable<string>): DestinationReader {
  const written = [...destinations];
  const countries = written.filter(isPhoneCountry).map((country) => ({ country, ...callingCodeOf(country) }));
  const byBeginning = beginningReader(
    written.filter((text) => !isPhoneCountry(text)).map((text) => [text, text]),
  );
  const byOwnCode = beginningReader(
    countries.filter(({ shared }) => !shared).map(({ prefix, country }) => [prefix, country]),
  );
  const sharing = countries.filter(({ shared }) => shared);
  const sharers = new Set<string>(sharing.map(({ country }) => country));
  const bySharedCode = beginningReader(sharing.map(({ prefix }) => [prefix, countryReader(prefix)]));

  return (number) => {
    const known = byBeginning(number) ?? byOwnCode(number);
    if (known !== undefined) return known;
    const country = bySharedCode(number)?.(number);
    return country !== undefined && sharers.has(country) ? country : undefined;
  };
}

/** Looks the beginnings of a number up, the longest first. */
function beginningReader<Value>(
  named: readonly (readonly [beginning: string, value: Value])[],
): (number: string) => Value | undefined {
  const values = new Map(named);
  const lengths = [...new Set(named.map(([{ length }]) => length))].sort((one, other) => other - one);
  return (number) => {
    for (const length of lengths) {
      const value = values.get(number.slice(0, length));
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

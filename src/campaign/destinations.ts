import { callingCodeOf, createCountryReader, isPhoneCountry } from '../platform/phone-countries.ts';

/** Finds the rate card's destination of a number in E.164; undefined: none. */
export type DestinationReader = (number: string) => string | undefined;

/**
 * The longest matching prefix wins over the country. The number itself is parsed only where countries share a
 * calling code.
 *
 * @param destinations countries (`NZ`) and prefixes (`+6421`)
 */
export function createDestinationReader(destinations: Iterable<string>): DestinationReader {
  const written = [...destinations];
  const countries = written.filter(isPhoneCountry).map((country) => ({ country, ...callingCodeOf(country) }));
  const byPrefix = createPrefixLookup(
    written.filter((text) => !isPhoneCountry(text)).map((text) => [text, text]),
  );
  const byOwnCode = createPrefixLookup(
    countries.filter(({ shared }) => !shared).map(({ prefix, country }) => [prefix, country]),
  );
  const sharingCode = countries.filter(({ shared }) => shared);
  const namedSharing = new Set<string>(sharingCode.map(({ country }) => country));
  const bySharedCode = createPrefixLookup(
    sharingCode.map(({ prefix }) => [prefix, createCountryReader(prefix)]),
  );

  return (number) => {
    const known = byPrefix(number) ?? byOwnCode(number);
    if (known !== undefined) return known;
    const country = bySharedCode(number)?.(number);
    return country !== undefined && namedSharing.has(country) ? country : undefined;
  };
}

function createPrefixLookup<Value>(
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

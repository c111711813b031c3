import { Temporal } from 'temporal-polyfill';
import type { Channel } from '../domain/message.ts';
import type { Rate, RatePeriod, RunRates, Tariff } from '../domain/rate-card.ts';
import { callingCodeOf, createCountryReader, isPhoneCountry } from '../platform/phone-countries.ts';

type RateCard = {
  readonly rates: readonly Rate[];
  /** IANA zone of the rates' dates. */
  readonly ratesTimeZone: string;
};

/** The tariffs of a channel that a run needs. */
export type Tariffs = {
  /** Index of an address's tariff in `rates`; null: there is at most one tariff. */
  readonly tariffIndexOf: ((address: string) => number) | null;
  /** The tariffs used so far, in order of first use; null: the account has no rate for the channel. */
  readonly rates: () => RunRates | null;
};

/**
 * An address without a rate gets a tariff without periods. A rate card can cover every country and is stored with
 * each run, so a run gets only the tariffs of its own recipients.
 */
export function createTariffs(channel: Channel, { rates, ratesTimeZone }: RateCard): Tariffs {
  const ofChannel = rates.filter((rate) => rate.channel === channel);
  const [first] = ofChannel;
  if (first === undefined) return { tariffIndexOf: null, rates: () => null };
  const { currency } = first;
  const byDestination = new Map<string | undefined, Tariff>();
  for (const [destination, group] of Map.groupBy(ofChannel, (rate) => rate.destination)) {
    byDestination.set(
      destination,
      group.map((rate) => periodOf(rate, ratesTimeZone)),
    );
  }
  const everywhere = byDestination.get(undefined) ?? [];
  if (byDestination.size === 1 && byDestination.has(undefined)) {
    return { tariffIndexOf: null, rates: () => ({ currency, tariffs: [everywhere] }) };
  }

  const destinationOf = createDestinationReader([...byDestination.keys()].filter((key) => key !== undefined));
  const indexes = new Map<string | undefined, number>();
  const used: Tariff[] = [];
  return {
    tariffIndexOf: (address) => {
      const destination = destinationOf(address);
      const known = indexes.get(destination);
      if (known !== undefined) return known;
      const index = used.push(byDestination.get(destination) ?? everywhere) - 1;
      indexes.set(destination, index);
      return index;
    },
    rates: () => ({ currency, tariffs: [...used] }),
  };
}

function periodOf({ price, tax, from, until }: Rate, timeZone: string): RatePeriod {
  return { price, tax: tax ?? null, from: beginningOf(from, timeZone), until: beginningOf(until, timeZone) };
}

/** The instant at which a local date begins; of a day without midnight, its first moment. */
function beginningOf(date: string | undefined, timeZone: string): string | null {
  if (date === undefined) return null;
  return Temporal.PlainDate.from(date).toZonedDateTime({ timeZone }).toInstant().toString();
}

export function periodAt(tariff: Tariff, at: Date): RatePeriod | undefined {
  return tariff.find(
    ({ from, until }) =>
      (from === null || Date.parse(from) <= at.getTime()) &&
      (until === null || at.getTime() < Date.parse(until)),
  );
}

/** Finds the rate card's destination of a number in E.164; undefined: none. */
type DestinationReader = (number: string) => string | undefined;

/**
 * The longest matching prefix wins over the country. The number itself is parsed only where countries share a
 * calling code.
 *
 * @param destinations countries (`NZ`) and prefixes (`+6421`)
 */
function createDestinationReader(destinations: Iterable<string>): DestinationReader {
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

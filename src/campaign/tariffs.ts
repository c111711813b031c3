import { Temporal } from 'temporal-polyfill';
import type { Channel } from '../domain/message.ts';
import type { Rate, RatePeriod, RunRates, Tariff } from '../domain/rates.ts';
import { destinationReader } from './destinations.ts';

export type RateCard = {
  readonly rates: readonly Rate[];
  /** Of their dates; a name of the IANA database. */
  readonly ratesTimeZone: string;
};

/** The tariffs of a channel, as a run comes to need them. */
export type Tariffs = {
  /** The place of an address's tariff in `rates`; null where all have the first, or there is none. */
  readonly placeOf: ((address: string) => number) | null;
  /** Those that were asked for, in that order; null where the account has no rate for the channel. */
  readonly rates: () => RunRates | null;
};

/**
 * Whoever no rate is for has a tariff without a period. A run has only the tariffs of its own recipients: a card may be
 * for every country, and is frozen with each run.
 */
export function openTariffs(channel: Channel, { rates, ratesTimeZone }: RateCard): Tariffs {
  const ofChannel = rates.filter((rate) => rate.channel === channel);
  const [first] = ofChannel;
  if (first === undefined) return { placeOf: null, rates: () => null };
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
    return { placeOf: null, rates: () => ({ currency, tariffs: [everywhere] }) };
  }

  const destinationOf = destinationReader([...byDestination.keys()].filter((key) => key !== undefined));
  const places = new Map<string | undefined, number>();
  const asked: Tariff[] = [];
  return {
    placeOf: (address) => {
      const destination = destinationOf(address);
      const known = places.get(destination);
      if (known !== undefined) return known;
      const place = asked.push(byDestination.get(destination) ?? everywhere) - 1;
      places.set(destination, place);
      return place;
    },
    rates: () => ({ currency, tariffs: [...asked] }),
  };
}

function periodOf({ price, tax, from, until }: Rate, timeZone: string): RatePeriod {
  return { price, tax: tax ?? null, from: beginningOf(from, timeZone), until: beginningOf(until, timeZone) };
}

/** The instant a local date begins at; where a day has no midnight, its first moment. */
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

import { Temporal } from 'temporal-polyfill';
import type { Channel } from '../domain/message.ts';
import type { Rate, RatePeriod, RunRates, Tariff } from '../domain/rates.ts';
import { createDestinationReader } from './destinations.ts';

export type RateCard = {
  readonly rates: readonly Rate[];
  /** Of their dates; a name of the IANA database. */
  readonly ratesTimeZone: string;
};

/** The tariffs of a channel, as a run comes to need them. */
export type Tariffs = {
  /** The place of an address's tariff in `rates`; null where all have the first, or there is none. */
  readonly tariffIndexOf: ((address: string) => number) | null;
  /** Those that were asked for, in that order; null where the account has no rate for the channel. */
  readonly rates: () => RunRates | null;
};

/**
 * Whoever no rate is for has a tariff without a period. A run has only the tariffs of its own recipients: a card may be
 * for every country, and is frozen with each run.
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

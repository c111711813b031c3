import type { Channel } from './message.ts';

/** What the service charges for, and the unit it does in, by channel. */
export const unitOfChannel = {
  email: 'email',
  sms: 'part',
  fax: 'page',
  voice: 'second',
  tts: 'second',
} as const satisfies Record<Channel, string>;
export type Unit = (typeof unitOfChannel)[Channel];

/** What one unit costs through an account. */
export type Rate = {
  readonly channel: Channel;
  readonly unit: Unit;
  /** Where to: a two-letter country (`NZ`) or the beginning of a number (`+6421`); undefined: everywhere. */
  readonly destination?: string | undefined;
  /** An exact decimal, without tax. */
  readonly price: string;
  /** Three capital letters, the same in all rates of an account. */
  readonly currency: string;
  /** The tax on the price, as an exact share of it: `0.15`. */
  readonly tax?: string | undefined;
  /** Local dates (`2026-11-01`) in the zone of the account's rates: the first day, and the day after the last. */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
};

/** A price for a time. `from` is included, `until` is not; both are instants of ISO 8601, and null has no limit. */
export type RatePeriod = {
  readonly price: string;
  readonly tax: string | null;
  readonly from: string | null;
  readonly until: string | null;
};

/** What a channel costs to one destination, at different times; no two periods overlap. Empty: nothing says what. */
export type Tariff = readonly RatePeriod[];

/** The rates that a run is planned with. Its recipients know their tariff by its place, from 0. */
export type RunRates = { readonly currency: string; readonly tariffs: readonly Tariff[] };

/** How fast an account may be used, over all workers; null: as fast as can be. */
export type RateLimits = {
  readonly requestsPerSecond: number | null;
  readonly recipientsPerSecond: number | null;
};

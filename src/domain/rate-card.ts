import type { Channel } from './message.ts';

/** What the service charges for in each channel. */
export const unitOfChannel = {
  email: 'email',
  sms: 'part',
  fax: 'page',
  voice: 'second',
  tts: 'second',
} as const satisfies Record<Channel, string>;
export type Unit = (typeof unitOfChannel)[Channel];

/** The price of one unit through an account. */
export type Rate = {
  readonly channel: Channel;
  readonly unit: Unit;
  /** A two-letter country (`NZ`) or the beginning of a number (`+6421`); undefined: everywhere. */
  readonly destination?: string | undefined;
  /** An exact decimal, without tax. */
  readonly price: string;
  /** Three capital letters, equal in all rates of an account. */
  readonly currency: string;
  /** An exact share of the price, such as `0.15`. */
  readonly tax?: string | undefined;
  /** Local dates (`2026-11-01`) in the time zone of the account's rates. `until` is exclusive. */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
};

/** `from` is inclusive, `until` exclusive; both are ISO 8601, and null means no limit. */
export type RatePeriod = {
  readonly price: string;
  readonly tax: string | null;
  readonly from: string | null;
  readonly until: string | null;
};

/** Prices of a channel to one destination over time. Periods do not overlap. Empty: price unknown. */
export type Tariff = readonly RatePeriod[];

/** Recipients store the index of their tariff. */
export type RunRates = { readonly currency: string; readonly tariffs: readonly Tariff[] };

/** The planned recipients of one tariff, SubAccount and ChargeCode. null: without one. */
export type CostTotal = {
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
  /** Index of the tariff in the run's rates. */
  readonly tariffIndex: number;
  readonly recipients: number;
  /** Of SMS; null in other channels. */
  readonly parts: number | null;
  /** The alphabetically first address; null if the run has one tariff. */
  readonly example: string | null;
};

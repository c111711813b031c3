import type { Channel } from '../../domain/message.ts';

/** Figures of an entry: sums, which can be added up in any grouping. */
export const entryFigures = [
  'requests',
  'recipients',
  'accepted',
  'failed',
  'unknown',
  'delivered',
  'undelivered',
  'unsent_delivered',
  'unsent_undelivered',
  'units',
  'expected_units',
  'price',
  'estimated',
  'estimated_tax',
  'unrated',
] as const;

/**
 * Money and units are exact decimal text. recipients = accepted + failed + unknown, without suppressed recipients,
 * untried and cancelled requests.
 */
export type BillingFigures = {
  readonly requests: number;
  readonly recipients: number;
  /** Delivered or not. */
  readonly accepted: number;
  readonly failed: number;
  /** Recipients of requests that are sending, in doubt or abandoned. */
  readonly unknown: number;
  readonly delivered: number;
  readonly undelivered: number;
  /** Delivered or not: recipients of requests that were never sent. They are in no other count; their price is. */
  readonly reportedUnsent: number;
  /** accepted - delivered - undelivered. Below zero if the service reports on what it has not accepted. */
  readonly notYetReported: number;
  /** From delivery reports; `emails` are accepted recipients. */
  readonly smsParts: string;
  readonly faxPages: string;
  readonly voiceSeconds: string;
  readonly emails: string;
  readonly expectedSmsParts: string;
  readonly price: string;
  /** By the rate card, of expected units, or of reported ones where none can be expected. */
  readonly estimated: string;
  readonly estimatedTax: string;
  readonly difference: string;
  /** Accepted recipients without a price in the rate card. */
  readonly unrated: number;
};

const sumOfUnits = (column: string, ...channels: readonly Channel[]): string =>
  `coalesce(sum(line.${column}) FILTER (WHERE line.channel IN (${channels.map((channel) => `'${channel}'`).join(', ')})), 0)::text`;
const count = (column: string): string => `sum(line.${column})::float8`;
const amount = (sum: string): string => `coalesce(${sum}, 0)::text`;

/** SQL of each figure, of a group of `line`. */
export const figureSql: Readonly<Record<keyof BillingFigures, string>> = {
  requests: count('requests'),
  recipients: count('recipients'),
  accepted: count('accepted'),
  failed: count('failed'),
  unknown: count('unknown'),
  delivered: count('delivered'),
  undelivered: count('undelivered'),
  reportedUnsent: '(sum(line.unsent_delivered) + sum(line.unsent_undelivered))::float8',
  notYetReported: '(sum(line.accepted) - sum(line.delivered) - sum(line.undelivered))::float8',
  smsParts: sumOfUnits('units', 'sms'),
  faxPages: sumOfUnits('units', 'fax'),
  voiceSeconds: sumOfUnits('units', 'voice', 'tts'),
  emails: sumOfUnits('accepted', 'email'),
  expectedSmsParts: sumOfUnits('expected_units', 'sms'),
  price: amount('sum(line.price)'),
  estimated: amount('sum(line.estimated)'),
  estimatedTax: amount('sum(line.estimated_tax)'),
  difference: amount('sum(line.price) - sum(line.estimated)'),
  unrated: count('unrated'),
};

export function isFigure(name: string): name is keyof BillingFigures {
  return Object.hasOwn(figureSql, name);
}

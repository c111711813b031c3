import { type Channel, channels } from '../domain/message.ts';
import { type DeliveryReportMapping, toWord } from './delivery-report-mapping.ts';

/** Values of a delivery report: what can be believed of them. Whatever does not fit its pattern is absent. */

/** Quantities that `Detail` is known to carry (observed.md); parts and pages are counts, sizes bytes, times seconds. */
export const unitNames = [
  'SMSParts',
  'EmailSize',
  'FaxPages',
  'VoiceSeconds',
  'VoiceTotalCallTime',
  'Prompts',
] as const;
export type UnitName = (typeof unitNames)[number];
export type Units = Readonly<Partial<Record<UnitName, number>>>;

/** The `Type` of a report of this channel (observed.md): text-to-speech is reported as `Voice`. */
export const deliveryReportTypes: Readonly<Record<Channel, string>> = {
  email: 'Email',
  sms: 'SMS',
  fax: 'Fax',
  voice: 'Voice',
  tts: 'Voice',
};

/** The largest count a database integer holds; a larger one is nonsense. */
const maxCount = 2_147_483_647;

/** Money: decimal text with at most 12 digits before the point and 8 after, or undefined. Never a binary number. */
function parseDecimal(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed !== undefined && /^-?\d{1,12}(\.\d{1,8})?$/.test(trimmed) ? trimmed : undefined;
}

/**
 * A price that is there is money: where it is no decimal, or below nothing without being a credit that may be, that is
 * said, in `unread`.
 */
export function parsePrice(
  text: string | undefined,
  credits: DeliveryReportMapping['credits'],
): { readonly price?: string; readonly unread?: string } {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '') return {};
  const price = parseDecimal(trimmed);
  if (price === undefined) return { unread: `its Price "${trimmed.slice(0, 40)}" is no decimal number` };
  const isCredit = price.startsWith('-') && /[1-9]/.test(price);
  return isCredit && credits === 'refused'
    ? { unread: `its Price ${price} is a credit, which the account does not allow (receiver.credits)` }
    : { price };
}

/** More than all pairs that were seen together; a longer `Detail` is none. */
const maxDetailLength = 10_000;

/** `Name:value` pairs separated by commas, semicolons or line breaks (observed.md, `Detail`). */
export function parseDetailPairs(text: string): readonly (readonly [string, string])[] {
  if (text.length > maxDetailLength) return [];
  return text.split(/[,;\r\n]+/).flatMap((pair): [string, string][] => {
    const colon = pair.indexOf(':');
    return colon < 0 ? [] : [[pair.slice(0, colon).trim(), pair.slice(colon + 1).trim()]];
  });
}

/** The known quantities among the pairs, in any case, each a whole number. One that is there twice, and differs, is absent. */
export function unitsOf(pairs: Iterable<readonly [string, string]>): Units {
  const counts = new Map<UnitName, Set<number>>();
  for (const [name, value] of pairs) {
    const known = unitNames.find((unit) => unit.toLowerCase() === name.toLowerCase());
    const count = /^\d{1,10}$/.test(value) ? Number(value) : undefined;
    if (!known || count === undefined || count > maxCount) continue;
    counts.set(known, (counts.get(known) ?? new Set()).add(count));
  }
  const units: Partial<Record<UnitName, number>> = {};
  for (const [name, [count, other]] of counts) {
    if (count !== undefined && other === undefined) units[name] = count;
  }
  return units;
}

/** The channels that a report of this `Type` (any case) can be of; none for a word that was not seen. */
export function channelsOfType(type: string): readonly Channel[] {
  return channels.filter((channel) => deliveryReportTypes[channel].toLowerCase() === toWord(type));
}

/** The quantity that each channel is invoiced by; an email counts as one. */
const billedUnitNames: Readonly<Record<Exclude<Channel, 'email'>, UnitName>> = {
  sms: 'SMSParts',
  fax: 'FaxPages',
  voice: 'VoiceSeconds',
  tts: 'VoiceSeconds',
};

/** What is counted for the invoice: SMS parts, fax pages, voice seconds, and one for an email. Decimal text; null when unknown. */
export function billedUnits({
  type,
  units,
}: {
  readonly type: string;
  readonly units: Units;
}): string | null {
  const [channel] = channelsOfType(type);
  if (channel === undefined) return null;
  const count = channel === 'email' ? 1 : units[billedUnitNames[channel]];
  return count === undefined ? null : String(count);
}

/** `2025-06-12T20:44:16.000Z`, or `2025-06-12 20:44:16` taken as UTC, to ISO 8601 in UTC with milliseconds. */
export function parseUtcTime(text: string | undefined): string | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}:\d{2})?$/.exec(
    text?.trim() ?? '',
  );
  if (!match) return undefined;
  const [, date = '', time = '', zone = 'Z'] = match;
  const milliseconds = Date.parse(`${date}T${time}${zone}`);
  const asUtc = zone === 'Z' ? milliseconds : Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(milliseconds) || Number.isNaN(asUtc)) return undefined;
  const utc = new Date(milliseconds).toISOString();
  const asWritten = asUtc === milliseconds ? utc : new Date(asUtc).toISOString();
  // A day or an hour that does not exist is taken for the next one.
  return asWritten.startsWith(`${date}T${time.slice(0, 8)}`) ? utc : undefined;
}

/** A report of another year is a mistake of its writer, such as the least time that a programming language knows. */
export const deliveryReportYears = { first: 1970, last: 2100 } as const;

/** @param time in ISO 8601, in UTC */
export function isDeliveryReportYear(time: string): boolean {
  const year = Number(time.slice(0, time.indexOf('-', 1)));
  return year >= deliveryReportYears.first && year <= deliveryReportYears.last;
}

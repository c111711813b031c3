import { type Channel, channels } from '../domain/message.ts';
import { type DeliveryReportMapping, toWord } from './delivery-report-mapping.ts';

/** Values that do not match their pattern are absent. */

/** Quantities in `Detail` (docs/reference/interfaces.md, "Delivery report calls"): counts of parts and pages, bytes, seconds. */
const unitNames = [
  'SMSParts',
  'EmailSize',
  'FaxPages',
  'VoiceSeconds',
  'VoiceTotalCallTime',
  'Prompts',
] as const;
type UnitName = (typeof unitNames)[number];
export type Units = Readonly<Partial<Record<UnitName, number>>>;

/** The observed `Type` of each channel's reports. */
export const deliveryReportTypes: Readonly<Record<Channel, string>> = {
  email: 'Email',
  sms: 'SMS',
  fax: 'Fax',
  voice: 'Voice',
  tts: 'Voice',
};

/** The largest integer of the database. */
const maxCount = 2_147_483_647;

/** Decimal text with at most 12 digits before the point and 8 after it; never a binary number. */
function parseDecimal(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed !== undefined && /^-?\d{1,12}(\.\d{1,8})?$/.test(trimmed) ? trimmed : undefined;
}

/** `unread` says why a price was not accepted: it is no decimal, or a credit that the account refuses. */
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

/** Longer than all observed pairs together. */
const maxDetailLength = 10_000;

/** `Name:value` pairs, separated by commas, semicolons or line breaks (docs/reference/interfaces.md, "Delivery report calls"). */
export function parseDetailPairs(text: string): readonly (readonly [string, string])[] {
  if (text.length > maxDetailLength) return [];
  return text.split(/[,;\r\n]+/).flatMap((pair): [string, string][] => {
    const colon = pair.indexOf(':');
    return colon < 0 ? [] : [[pair.slice(0, colon).trim(), pair.slice(colon + 1).trim()]];
  });
}

/** Known names in any case, whole numbers. A repeated name with different values is absent. */
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

/** Returns no channel for an unknown `Type`. */
export function channelsOfType(type: string): readonly Channel[] {
  return channels.filter((channel) => deliveryReportTypes[channel].toLowerCase() === toWord(type));
}

const billedUnitNames: Readonly<Record<Exclude<Channel, 'email'>, UnitName>> = {
  sms: 'SMSParts',
  fax: 'FaxPages',
  voice: 'VoiceSeconds',
  tts: 'VoiceSeconds',
};

/**
 * The quantity that the invoice counts, as decimal text: SMS parts, fax pages, voice seconds, 1 for an email.
 * Null when unknown.
 */
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

/**
 * Accepts `2025-06-12T20:44:16.000Z` and `2025-06-12 20:44:16` (UTC).
 *
 * @returns ISO 8601 in UTC with milliseconds
 */
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
  // `Date.parse` moves a day or hour that does not exist to the next one.
  return asWritten.startsWith(`${date}T${time.slice(0, 8)}`) ? utc : undefined;
}

/** Other years are sender errors, such as a language's minimum date. */
export const deliveryReportYears = { first: 1970, last: 2100 } as const;

/** @param time ISO 8601 in UTC */
export function isDeliveryReportYear(time: string): boolean {
  const year = Number(time.slice(0, time.indexOf('-', 1)));
  return year >= deliveryReportYears.first && year <= deliveryReportYears.last;
}

/** Bounds the work on long texts. */
const maxCharacters = 200;

/**
 * Whether a message is a stop word and nothing else. Ignores case, surrounding white space and final
 * punctuation.
 */
export function isStopWord(text: string, words: readonly string[]): boolean {
  const message = normalise(text);
  return message !== '' && words.some((word) => normalise(word) === message);
}

function normalise(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > maxCharacters) return '';
  return trimmed
    .replace(/(?<![\p{P}\s])[\p{P}\s]+$/u, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

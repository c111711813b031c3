import { isTime } from './values.ts';

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

/** The largest count a database integer holds; a larger one is nonsense. */
const largestCount = 2_147_483_647;

/** Money: decimal text with at most 12 digits before the point and 8 after, or undefined. Never a binary number. */
export function decimalText(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed !== undefined && /^-?\d{1,12}(\.\d{1,8})?$/.test(trimmed) ? trimmed : undefined;
}

/** `Name:value` pairs separated by commas, semicolons or line breaks (observed.md, `Detail`). */
export function detailPairs(text: string): readonly (readonly [string, string])[] {
  return text.split(/[,;\r\n]+/).flatMap((pair): [string, string][] => {
    const colon = pair.indexOf(':');
    return colon < 0 ? [] : [[pair.slice(0, colon).trim(), pair.slice(colon + 1).trim()]];
  });
}

/** The known quantities among the pairs, each a whole number. */
export function unitsOf(pairs: Iterable<readonly [string, string]>): Units {
  const units: Partial<Record<UnitName, number>> = {};
  for (const [name, value] of pairs) {
    const known = unitNames.find((unit) => unit === name);
    const count = /^\d{1,10}$/.test(value) ? Number(value) : undefined;
    if (known && count !== undefined && count <= largestCount) units[known] = count;
  }
  return units;
}

/** `2025-06-12T20:44:16.000Z`, or `2025-06-12 20:44:16` taken as UTC, to ISO 8601 in UTC with milliseconds. */
export function utcTime(text: string | undefined): string | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}:\d{2})?$/.exec(
    text?.trim() ?? '',
  );
  if (!match) return undefined;
  const [, date, time, zone = 'Z'] = match;
  const milliseconds = Date.parse(`${date}T${time}${zone}`);
  // A day or an hour that does not exist would be taken for the next one.
  const exists = isTime(`${date}T${time?.slice(0, 8)}`);
  return exists && !Number.isNaN(milliseconds) ? new Date(milliseconds).toISOString() : undefined;
}

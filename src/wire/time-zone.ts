import { findIana, findWindows } from 'windows-iana';
import type { InterfaceName } from '../domain/message.ts';
import { memoize } from '../platform/memoize.ts';
import { timeZoneName } from '../platform/time-zone-names.ts';

/**
 * Region names (IANA, `Pacific/Auckland`) and Windows zones, by CLDR. Earlier versions accept Windows zones
 * (interface.md, 2.8), without " Standard Time" (docs/reference/interfaces.md, "Ranges and values").
 */

const suffix = ' Standard Time';

export function isTimeZone(text: string): boolean {
  return regionOf(text) !== undefined;
}

/** Converts a region or Windows zone to a Windows zone without " Standard Time". */
export function windowsZone(text: string): string | undefined {
  if (windowsRegions(text).length > 0) return withoutSuffix(text);
  const [zone] = canonicalNames(text).flatMap((name) => findWindows(name));
  return zone === undefined ? undefined : withoutSuffix(zone);
}

/** @param zone a region name */
export function supportsTimeZone(interfaceName: InterfaceName, zone: string): boolean {
  return interfaceName === 'rest-2.02' || windowsZone(zone) !== undefined;
}

/**
 * Converts a region or Windows zone to a region name. A Windows zone becomes CLDR's region for the whole
 * world.
 */
export function regionOf(text: string): string | undefined {
  const [region] = windowsRegions(text);
  return region ?? canonicalNames(text)[0];
}

/**
 * As `regionOf`, for user input. Users mean GMT without daylight saving, but the service reads it as London;
 * the result is therefore no Windows zone.
 */
export function parseTimeZone(text: string): string | undefined {
  const [region] = canonicalNames(text);
  if (region === 'GMT') return 'Etc/GMT';
  return region ?? regionOf(text);
}

/** A contact file repeats a few zones in all rows, and each computation takes about 50 µs. */
const windowsRegions = memoize((text: string): readonly string[] => {
  const exact = findIana(text);
  return exact.length > 0 ? exact : findIana(text + suffix);
});

/** The name and the runtime's canonical one (`Europe/Kiev` for `Europe/Kyiv`); empty if unknown. */
const canonicalNames = memoize((text: string): readonly string[] => {
  const region = timeZoneName(text);
  if (region === undefined) return [];
  return [region, new Intl.DateTimeFormat('en', { timeZone: region }).resolvedOptions().timeZone];
});

function withoutSuffix(zone: string): string {
  return zone.endsWith(suffix) ? zone.slice(0, -suffix.length) : zone;
}

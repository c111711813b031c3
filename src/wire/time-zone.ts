import { findIana, findWindows } from 'windows-iana';
import type { InterfaceName } from '../domain/message.ts';
import { timeZoneName } from '../platform/time-zone-names.ts';

/**
 * Region names (IANA, `Pacific/Auckland`) and Windows zones, by the CLDR table that the library carries. Earlier
 * versions take Windows zones (interface.md, 2.8), and were seen to take them without " Standard Time" (observed.md).
 */

const suffix = ' Standard Time';

/** Whether a text names a zone: a region name, or a Windows zone with or without " Standard Time". */
export function isTimeZone(text: string): boolean {
  return regionOf(text) !== undefined;
}

/** The Windows zone, without " Standard Time", of a zone written either way; undefined when there is none. */
export function windowsZone(text: string): string | undefined {
  if (windowsRegions(text).length > 0) return withoutSuffix(text);
  const [zone] = canonicalNames(text).flatMap((name) => findWindows(name));
  return zone === undefined ? undefined : withoutSuffix(zone);
}

/** Whether a version can say a zone, given by its region name. */
export function supportsTimeZone(interfaceName: InterfaceName, zone: string): boolean {
  return interfaceName === 'rest-2.02' || windowsZone(zone) !== undefined;
}

/** The region name of a zone written either way; of a Windows zone, the region CLDR gives for the whole world. */
export function regionOf(text: string): string | undefined {
  const [region] = windowsRegions(text);
  return region ?? canonicalNames(text)[0];
}

/**
 * As `regionOf`, of what a person writes: GMT is then the zone without daylight saving. To the service it is London, so it
 * is given the name that is no Windows zone.
 */
export function parseTimeZone(text: string): string | undefined {
  const [region] = canonicalNames(text);
  if (region === 'GMT') return 'Etc/GMT';
  return region ?? regionOf(text);
}

const maxMemoized = 10_000;

/** A contact file has the same few zones in each row, and each look takes some 50 microseconds. */
function memoize(compute: (text: string) => readonly string[]): (text: string) => readonly string[] {
  const results = new Map<string, readonly string[]>();
  return (text) => {
    const memoized = results.get(text);
    if (memoized) return memoized;
    if (results.size >= maxMemoized) results.clear();
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}

const windowsRegions = memoize((text) => {
  const exact = findIana(text);
  return exact.length > 0 ? exact : findIana(text + suffix);
});

/** The name itself and the name the runtime's table has for it (of `Europe/Kyiv`, `Europe/Kiev`); none if unknown. */
const canonicalNames = memoize((text) => {
  const region = timeZoneName(text);
  if (region === undefined) return [];
  return [region, new Intl.DateTimeFormat('en', { timeZone: region }).resolvedOptions().timeZone];
});

function withoutSuffix(zone: string): string {
  return zone.endsWith(suffix) ? zone.slice(0, -suffix.length) : zone;
}

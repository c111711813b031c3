import { findIana, findWindows } from 'windows-iana';
import type { InterfaceName } from '../domain.ts';

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
  if (windowsRegions(text).length > 0) return short(text);
  const [zone] = canonicalNames(text).flatMap((name) => findWindows(name));
  return zone === undefined ? undefined : short(zone);
}

/** Whether a version can say a zone, given by its region name. */
export function canSayZone(interfaceName: InterfaceName, zone: string): boolean {
  return interfaceName === 'rest-2.02' || windowsZone(zone) !== undefined;
}

/** The region name of a zone written either way; of a Windows zone, the region CLDR gives for the whole world. */
export function regionOf(text: string): string | undefined {
  const [region] = windowsRegions(text);
  return region ?? (canonicalNames(text).length > 0 ? text : undefined);
}

function windowsRegions(text: string): readonly string[] {
  const exact = findIana(text);
  return exact.length > 0 ? exact : findIana(text + suffix);
}

function short(zone: string): string {
  return zone.endsWith(suffix) ? zone.slice(0, -suffix.length) : zone;
}

/** The name itself and the name the runtime's table has for it (of `Europe/Kyiv`, `Europe/Kiev`); none if unknown. */
function canonicalNames(text: string): readonly string[] {
  // Offsets such as +12:00 are zones to the runtime, but not region names.
  if (!/^[A-Za-z]/.test(text)) return [];
  try {
    return [text, new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone];
  } catch {
    return [];
  }
}

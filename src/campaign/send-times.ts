import type { MessageFields } from '../domain/message.ts';
import { toInstant } from '../platform/zoned-times.ts';
import { regionOf } from '../wire/time-zone.ts';
import { isTime } from '../wire/wire-values.ts';
import { isLocalTime } from './window.ts';

/** The last zone in which a day ends. */
const lastZone = 'Etc/GMT+12';

/**
 * Whether a message's SendTime is past. Without a TimeZone it is in the sender's zone, which only the service
 * knows; then it must be past in every zone.
 */
export function isSendTimePast({ SendTime: time, TimeZone: zone }: MessageFields, now: Date): boolean {
  if (time === undefined || !isTime(time)) return false;
  return toInstant(time, (zone === undefined ? undefined : regionOf(zone)) ?? lastZone) < now;
}

/** Why a valid SendTime does not exist in its valid TimeZone; undefined if it does. */
export function sendTimeError({ SendTime: time, TimeZone: zone }: MessageFields): string | undefined {
  if (time === undefined || zone === undefined || !isTime(time)) return undefined;
  const region = regionOf(zone);
  if (region === undefined || isLocalTime(time, region)) return undefined;
  return `there is no ${time} in ${zone}: the clocks go forward and skip it`;
}

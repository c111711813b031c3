import type { MessageFields } from '../domain/message.ts';
import { toInstant } from '../platform/zoned-times.ts';
import { regionOf } from '../wire/time-zone.ts';
import { isTime } from '../wire/wire-values.ts';
import { isLocalTime } from './window.ts';

/** Where a day ends last. */
const lastZone = 'Etc/GMT+12';

/**
 * Whether the SendTime of a message is over. Without a TimeZone it is in the sender's, which only the service knows; then
 * it is over when it is so everywhere.
 */
export function isSendTimePast({ SendTime: time, TimeZone: zone }: MessageFields, now: Date): boolean {
  if (time === undefined || !isTime(time)) return false;
  return toInstant(time, (zone === undefined ? undefined : regionOf(zone)) ?? lastZone) < now;
}

/** What is wrong with a SendTime in its TimeZone, each of which is right by itself; undefined when nothing is. */
export function sendTimeError({ SendTime: time, TimeZone: zone }: MessageFields): string | undefined {
  if (time === undefined || zone === undefined || !isTime(time)) return undefined;
  const region = regionOf(zone);
  if (region === undefined || isLocalTime(time, region)) return undefined;
  return `there is no ${time} in ${zone}: the clocks are put forward over it`;
}

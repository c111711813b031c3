import type { Refusal } from '../domain/breaker.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { formatTime, screenZone } from './time.ts';

/** Why a run waits when the service refuses everything. Valid while that lasts. */
export function formatRefusal({ since, reason }: Refusal, screen?: Screen): string {
  return `the service has refused everything since ${formatTime(screen, since)} ${screenZone(screen)} (${printable(reason)})`;
}

export function formatRefusalWithRetry(refusal: Refusal, screen?: Screen): string {
  return `${formatRefusal(refusal, screen)}; the next request is sent at ${formatTime(screen, refusal.retryAt)} ${screenZone(screen)}`;
}

import type { Refusal } from '../domain/breaker.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { timeOn, zoneOf } from './time.ts';

/** Why a run waits whose account's service refuses everything; it stays true for as long as that lasts. */
export function refusalText({ since, reason }: Refusal, screen?: Screen): string {
  return `the service has refused everything since ${timeOn(screen, since)} ${zoneOf(screen)} (${printable(reason)})`;
}

export function refusalNow(refusal: Refusal, screen?: Screen): string {
  return `${refusalText(refusal, screen)}; one request tries it again at ${timeOn(screen, refusal.retryAt)} ${zoneOf(screen)}`;
}

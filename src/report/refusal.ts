import type { Refusal } from '../domain/breaker.ts';
import { printable } from './printable.ts';
import { toSeconds } from './time.ts';

/** Why a run waits whose account's service refuses everything; it stays true for as long as that lasts. */
export function refusalText({ since, reason }: Refusal): string {
  return `the service has refused everything since ${toSeconds(since)} UTC (${printable(reason)})`;
}

/** As `refusalText`, with when one request tries again: true for now. */
export function refusalNow(refusal: Refusal): string {
  return `${refusalText(refusal)}; one request tries it again at ${toSeconds(refusal.retryAt)} UTC`;
}

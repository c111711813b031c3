import { Big } from 'big.js';

/**
 * Amounts are exact decimal texts, never rounded. A sum has as many decimals as its most precise amount, as in
 * Postgres.
 */

/** Minimum for display. */
const usualDecimals = 2;

export function countDecimals(amount: string): number {
  return amount.split('.')[1]?.length ?? 0;
}

/** Decimals for amounts that are shown together: two, or more if an amount needs them. */
export function displayDecimals(amounts: readonly string[]): number {
  return Math.max(usualDecimals, ...amounts.map(countDecimals));
}

export function toDisplayAmount(amount: string): string {
  return new Big(amount).toFixed(displayDecimals([amount]));
}

export function addAmounts(one: string, other: string): string {
  return new Big(one).plus(other).toFixed(Math.max(countDecimals(one), countDecimals(other)));
}

export function subtractAmounts(one: string, other: string): string {
  return new Big(one).minus(other).toFixed(Math.max(countDecimals(one), countDecimals(other)));
}

/** @returns below 0 if `one` is smaller, 0 if both are equal */
export function compareAmounts(one: string, other: string): number {
  return new Big(one).cmp(other);
}

/** Formats amounts that are shown together: with the same decimals, none rounded. */
export function createAmountFormat(amounts: readonly string[]): (amount: string) => string {
  const decimals = displayDecimals(amounts.map((amount) => new Big(amount).toFixed()));
  return (amount) => new Big(amount).toFixed(decimals);
}

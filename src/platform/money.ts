import { Big } from 'big.js';

/**
 * Amounts of money are exact decimals, as text. They are never rounded: a sum has as many decimals as the amount that has
 * most, here as in Postgres.
 */

/** Decimals that an amount is shown with at least. */
const usualDecimals = 2;

export function decimalsOf(amount: string): number {
  return amount.split('.')[1]?.length ?? 0;
}

/** How many decimals amounts that stand together are shown with: two, or as many more as one of them has. */
export function decimalsShown(amounts: readonly string[]): number {
  return Math.max(usualDecimals, ...amounts.map(decimalsOf));
}

/** The same amount, with two decimals or as many more as it has. */
export function withUsualDecimals(amount: string): string {
  return new Big(amount).toFixed(decimalsShown([amount]));
}

export function addAmounts(one: string, other: string): string {
  return new Big(one).plus(other).toFixed(Math.max(decimalsOf(one), decimalsOf(other)));
}

/** @returns less than 0 where the first is the smaller one, 0 where they are equal */
export function compareAmounts(one: string, other: string): number {
  return new Big(one).cmp(other);
}

import { type BillingDimension, billingDimensions } from '../ledger/billing/report.ts';

export const noName = '(none)';

/** A name that looks like the placeholder for no name is quoted. */
export function formatPayer(value: string | null): string {
  if (value === null) return noName;
  return isNoNameOrQuoted(value) ? `"${value}"` : value;
}

/** Reads a name in a filter; null for no name. */
export function parsePayer(written: string): string | null {
  if (written === noName) return null;
  return isNoNameOrQuoted(written) ? written.slice(1, -1) : written;
}

function isNoNameOrQuoted(text: string): boolean {
  return /^("*)\(none\)\1$/.test(text);
}

/**
 * @param text dimensions separated by commas
 * @returns a sentence about the problem, if any
 */
export function parseDimensions(text: string): readonly BillingDimension[] | string {
  const found: BillingDimension[] = [];
  for (const name of text.split(',').map((each) => each.trim())) {
    const dimension = billingDimensions.find((known) => known.toLowerCase() === name.toLowerCase());
    if (dimension === undefined) return `"${name}" is none of ${billingDimensions.join(', ')}.`;
    if (found.includes(dimension)) return `"${name}" is given twice.`;
    found.push(dimension);
  }
  return found;
}

import { InputError } from '../../domain/problems.ts';
import { figureSql, isFigure } from '../../ledger/billing/figures.ts';
import {
  type BillingDimension,
  type BillingQuery,
  type BillingSort,
  billingDimensions,
} from '../../ledger/billing/report.ts';
import { didYouMean } from '../../platform/suggestions.ts';

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
    if (dimension === undefined)
      return `"${name}" is none of ${billingDimensions.join(', ')}.${didYouMean(name, billingDimensions)}`;
    if (found.includes(dimension)) return `"${name}" is given twice.`;
    found.push(dimension);
  }
  return found;
}

/**
 * Reads `price` (the smallest first) or `-price` (the largest first).
 *
 * @param by the dimensions of the report
 * @returns a sentence about the problem, if any
 */
function parseSort(text: string, by: readonly BillingDimension[]): BillingSort | string {
  const name = text.replace(/^-/, '');
  const key = by.find((dimension) => dimension === name) ?? (isFigure(name) ? name : undefined);
  if (key !== undefined) return { by: key, descending: text.startsWith('-') };
  const keys = [...by, ...Object.keys(figureSql)];
  return `"${name}" is none of ${keys.join(', ')}.${didYouMean(name, keys)}`;
}

/** The filters of billing, by their names in options, addresses and calls of the API. */
export const billingFilters = {
  subAccount: 'SubAccount',
  department: 'Department',
  chargeCode: 'ChargeCode',
  account: 'account',
  campaign: 'campaign',
  channel: 'channel',
  run: 'run',
} as const satisfies Readonly<Record<string, keyof BillingQuery['filter']>>;

export type BillingFilter = keyof typeof billingFilters;
export type FilterDimension = (typeof billingFilters)[BillingFilter];

/** The name of the filter by a dimension. */
export function filterNameOf(dimension: FilterDimension): string {
  return dimension.charAt(0).toLowerCase() + dimension.slice(1);
}

/** What is asked of billing, with names as `formatPayer` writes them. */
type AskedBilling = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly timeZone: string;
  readonly by: readonly BillingDimension[];
  readonly sort?: string | undefined;
} & { readonly [Filter in BillingFilter]?: string | readonly string[] | undefined };

/**
 * The question of the command line, the API and the pages.
 *
 * @param where names the sort in an error
 * @throws InputError when it cannot be sorted so
 */
export function toBillingQuery(
  { from, to, timeZone, by, sort, ...asked }: AskedBilling,
  where = '--sort',
): BillingQuery {
  const sorted = sort === undefined ? undefined : parseSort(sort, by);
  if (typeof sorted === 'string') throw new InputError([{ where, what: sorted }]);
  const only = entriesOf(billingFilters).flatMap(([filter, dimension]) => {
    const names = asked[filter];
    return names === undefined ? [] : [[dimension, [names].flat().map(parsePayer)] as const];
  });
  return {
    by,
    from: from ?? null,
    until: to ?? null,
    timeZone,
    filter: Object.fromEntries(only),
    sort: sorted,
  };
}

/** The entries of a record, with the type of its keys. */
export function entriesOf<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys.map((key) => [key, record[key]]);
}

/** `sent from 2026-11 until before 2026-12, Pacific/Auckland`. */
export function formatPeriod(
  verb: 'sent' | 'planned',
  { from, until, timeZone }: Pick<BillingQuery, 'from' | 'until' | 'timeZone'>,
): string {
  const begin = from === null ? 'at any time' : `from ${from}`;
  return `${verb} ${begin}${until === null ? '' : ` until before ${until}`}, ${timeZone}`;
}

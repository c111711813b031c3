import { InputError } from '../../domain/problems.ts';
import { figureSql } from '../../ledger/billing/figures.ts';
import { type BillingDimension, type BillingQuery, billingDimensions } from '../../ledger/billing/report.ts';
import { monthAfter } from '../../platform/months.ts';
import {
  billingFilters,
  entriesOf,
  type FilterDimension,
  filterNameOf,
} from '../../report/billing/billing-words.ts';
import { dayAfter } from '../../report/questions.ts';
import { formatLocal } from '../../report/time.ts';
import { type BillingParameters, billingParameters, billingQueryOf } from '../../server/api/billing-query.ts';
import { type Fields, problemsOf, textIn, textsIn } from '../base/fields.ts';
import type { View } from '../base/view.ts';

/** What a person asks of billing, as it is in the address. */
export type BillingQuestion = {
  /** What the person typed, such as `2026-11`; empty: unlimited. */
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly by: readonly string[];
  /** As the API has it; empty: a single payer from the largest price, others by name. */
  readonly sort: string;
  /** A name as `formatPayer` writes it. */
  readonly filters: readonly (readonly [FilterDimension, string])[];
};

/** A question as it was typed, and as it was understood. */
export type AskedQuestion = {
  readonly question: BillingQuestion;
  /** The parsed question; undefined if it has problems. */
  readonly asked: { readonly query: BillingQuery; readonly parameters: BillingParameters } | undefined;
  /** A sentence for each wrong field: `from`, `to`, `timeZone`, `by`, or a filter. */
  readonly problems: Readonly<Record<string, string>>;
};

/** What the fields of the address ask of the accounts that the session may see; without a period, of the current month. */
export function readQuestion(
  fields: Fields,
  {
    zone,
    now,
    session,
  }: Pick<View, 'zone' | 'now'> & { readonly session: Pick<View['session'], 'accounts'> },
): AskedQuestion {
  const timeZone = textIn(fields, 'timeZone') || zone;
  const isPeriodGiven = fields['from'] !== undefined || fields['to'] !== undefined;
  const month = formatLocal(now, zone).slice(0, 7);
  const question: BillingQuestion = {
    from: isPeriodGiven ? textIn(fields, 'from') : month,
    to: isPeriodGiven ? textIn(fields, 'to') : monthAfter(month),
    timeZone,
    by: fields['by'] === undefined ? ['SubAccount'] : textsIn(fields, 'by'),
    sort: textIn(fields, 'sort'),
    filters: entriesOf(billingFilters).flatMap(([name, dimension]) =>
      textsIn(fields, name).map((value) => [dimension, value] as const),
    ),
  };
  return { question, ...check(question, session.accounts) };
}

function check(
  question: BillingQuestion,
  accounts: readonly string[] | null,
): Pick<AskedQuestion, 'asked' | 'problems'> {
  const parsed = billingParameters.safeParse(toParameters(question));
  if (!parsed.success) return { asked: undefined, problems: problemsOf(parsed.error, 'by') };
  try {
    const parameters = parsed.data;
    return { asked: { query: billingQueryOf(parameters, accounts), parameters }, problems: {} };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const problems = error.problems.map(({ where, what }) => [where.replace('query/', ''), what] as const);
    return { asked: undefined, problems: Object.fromEntries(problems) };
  }
}

/** The parameters of the API. */
function toParameters({ from, to, timeZone, by, sort, filters }: BillingQuestion): Record<string, unknown> {
  // An address that was kept may sort by what it no longer asks for.
  const canSort = [...by, ...Object.keys(figureSql)].includes(sort.replace(/^-/, ''));
  const isOfPayers = by.length === 1 && by[0] !== 'day' && by[0] !== 'month';
  const sorted = canSort ? sort : isOfPayers ? '-price' : '';
  const names = entriesOf(billingFilters).flatMap(([name, dimension]) => {
    const values = filters.filter(([filtered]) => filtered === dimension).map(([, value]) => value);
    return values.length === 0 ? [] : [[name, values] as const];
  });
  return {
    ...(from !== '' && { from }),
    ...(to !== '' && { to }),
    ...(by.length > 0 && { by: by.join(',') }),
    ...(sorted !== '' && { sort: sorted }),
    timeZone,
    ...Object.fromEntries(names),
  };
}

/** The address of a page about the question. */
export function addressOf(
  path: string,
  question: BillingQuestion,
  more: Readonly<Record<string, string>> = {},
): string {
  const { from, to, timeZone, by, sort, filters } = question;
  const search = new URLSearchParams({ from, to, timeZone });
  for (const dimension of by.length === 0 ? [''] : by) search.append('by', dimension);
  if (sort !== '') search.append('sort', sort);
  for (const [dimension, value] of filters) search.append(filterNameOf(dimension), value);
  for (const [name, value] of Object.entries(more)) search.append(name, value);
  return `${path}?${search.toString()}`;
}

/** What a person asks next: from the payer to the run. */
const nextDimension: Readonly<Record<FilterDimension, FilterDimension>> = {
  account: 'SubAccount',
  channel: 'SubAccount',
  SubAccount: 'ChargeCode',
  Department: 'ChargeCode',
  ChargeCode: 'campaign',
  campaign: 'run',
  run: 'run',
};

/**
 * The question about one value of a line, by the next dimension.
 *
 * @param written as `formatPayer` writes it
 */
export function narrow(
  question: BillingQuestion,
  dimension: BillingDimension,
  written: string,
): BillingQuestion {
  if (dimension === 'day') return { ...question, from: written, to: dayAfter(written) };
  if (dimension === 'month') return { ...question, from: written, to: monthAfter(written), by: ['day'] };
  const filters = [...without(question, dimension).filters, [dimension, written] as const];
  const left = question.by.filter((each) => each !== dimension);
  const isFiltered = (each: FilterDimension): boolean => filters.some(([filtered]) => filtered === each);
  let next = nextDimension[dimension];
  while (next !== 'run' && isFiltered(next)) next = nextDimension[next];
  return { ...question, filters, by: left.length > 0 ? left : [next] };
}

/** The question without a filter. */
export function without(question: BillingQuestion, dimension: FilterDimension): BillingQuestion {
  return { ...question, filters: question.filters.filter(([each]) => each !== dimension) };
}

/** The same question about a month. */
export function ofMonth(question: BillingQuestion, month: string): BillingQuestion {
  return { ...question, from: month, to: monthAfter(month) };
}

/** Whether billing can be reported by it. */
export function isDimension(name: string): name is BillingDimension {
  return billingDimensions.some((known) => known === name);
}

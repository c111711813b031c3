import { InputError } from '../../domain/problems.ts';
import { figureSql } from '../../ledger/billing/figures.ts';
import { type BillingDimension, type BillingQuery, billingDimensions } from '../../ledger/billing/report.ts';
import { addMonths, monthAfter } from '../../platform/months.ts';
import {
  billingFilters,
  entriesOf,
  type FilterDimension,
  filterNameOf,
} from '../../report/billing/billing-words.ts';
import { type Html, html } from '../../report/html/html.ts';
import { dayAfter } from '../../report/questions.ts';
import { formatLocal } from '../../report/time.ts';
import { type BillingParameters, billingParameters, billingQueryOf } from '../../server/api/billing-query.ts';
import { type Fields, problemsOf, textIn, textsIn } from '../base/fields.ts';
import type { View } from '../base/view.ts';
import { choiceField, textField, zoneField } from '../parts/form-fields.ts';

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

function toParameters({ from, to, timeZone, by, sort, filters }: BillingQuestion): Record<string, unknown> {
  // An address that was kept may sort by what it no longer asks for.
  const canSort = [...by, ...Object.keys(figureSql)].includes(sort.replace(/^-/, ''));
  const isOfPayers = by.length === 1 && by[0] !== 'day' && by[0] !== 'month';
  const sorted = canSort ? sort : isOfPayers ? '-price' : '';
  const given = Object.entries({ from, to, by: by.join(','), sort: sorted });
  const names = Map.groupBy(filters, ([dimension]) => filterNameOf(dimension));
  return {
    timeZone,
    ...Object.fromEntries(given.filter(([, text]) => text !== '')),
    ...Object.fromEntries([...names].map(([name, of]) => [name, of.map(([, value]) => value)])),
  };
}

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

export function without(question: BillingQuestion, dimension: FilterDimension): BillingQuestion {
  return { ...question, filters: question.filters.filter(([each]) => each !== dimension) };
}

export function ofMonth(question: BillingQuestion, month: string): BillingQuestion {
  return { ...question, from: month, to: monthAfter(month) };
}

export function isDimension(name: string): name is BillingDimension {
  return billingDimensions.some((known) => known === name);
}

const monthsOffered = 6;

export function monthLinks(question: BillingQuestion, now: Date, zone: string): Html {
  const current = formatLocal(now, zone).slice(0, 7);
  const months = Array.from({ length: monthsOffered }, (_, index) => addMonths(current, -index));
  const isShown = (from: string, to: string) => question.from === from && question.to === to;
  const link = (name: string, { from, to, ...rest }: BillingQuestion): Html => {
    const current = isShown(from, to);
    return html`<li><a href="${addressOf('/billing', { from, to, ...rest })}"${current && html` aria-current="true"`}>${name}</a></li>`;
  };
  return html`<nav class="choices" aria-label="Period"><ul>
${months.map((month) => link(nameMonth(month), ofMonth(question, month)))}
${link('All time', { ...question, from: '', to: '' })}
</ul></nav>`;
}

/** `November 2026`. */
export function nameMonth(month: string): string {
  const format = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01T00:00Z`));
}

/** `November 2026`, or `from 2026-11-01 until before 2026-11-05`. */
export function namePeriod({ from, to }: Pick<BillingQuestion, 'from' | 'to'>): string {
  if (/^\d{4}-\d\d$/.test(from) && to === monthAfter(from)) return nameMonth(from);
  if (from === '' && to === '') return 'all time';
  return [from && `from ${from}`, to && `until before ${to}`].filter(Boolean).join(' ');
}

export function questionForm(question: BillingQuestion, problems: Readonly<Record<string, string>>): Html {
  const { from, to, timeZone, by, filters } = question;
  const input = (name: string, label: string, value: string, hint: string): Html =>
    textField({ name, label, value, hint, problem: problems[name] });
  return html`<form class="filter" method="get" action="/billing">
${input('from', 'From', from, 'such as 2026-11 or 2026-11-01')}
${input('to', 'Until before', to, 'empty: until now')}
${zoneField(timeZone, problems['timeZone'])}
${[0, 1, 2].map((index) => dimensionField(index, by[index] ?? ''))}
${problems['by'] && html`<p class="error">${problems['by']}</p>`}
${filters.map(([dimension, value]) => html`<input type="hidden" name="${filterNameOf(dimension)}" value="${value}">`)}
<button>Show</button>
</form>`;
}

function dimensionField(index: number, chosen: string): Html {
  const label = ['By', 'then by', 'and by'][index] ?? 'By';
  return choiceField({ name: 'by', id: `by-${index}`, label, values: billingDimensions, chosen, none: '–' });
}

/** What the figures are limited to, each with a link that takes it off. @param path of the page */
export function filterLinks(question: BillingQuestion, path = '/billing'): Html | undefined {
  const { filters } = question;
  if (filters.length === 0) return undefined;
  const items = filters.map(([dimension, value]) => {
    const address = addressOf(path, without(question, dimension));
    return html`<li>${dimension} <bdi>${value}</bdi> <a href="${address}">remove<span class="hidden"> the filter ${dimension} ${value}</span></a></li>`;
  });
  return html`<ul class="limits" aria-label="Filters">${items}</ul>`;
}

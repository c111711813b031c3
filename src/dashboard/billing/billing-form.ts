import { billingDimensions } from '../../ledger/billing/report.ts';
import { addMonths, monthAfter } from '../../platform/months.ts';
import { filterNameOf } from '../../report/billing/billing-words.ts';
import { type Html, html } from '../../report/html/html.ts';
import { formatLocal } from '../../report/time.ts';
import { choiceField, textField, zoneField } from '../parts/form-fields.ts';
import { addressOf, type BillingQuestion, ofMonth, without } from './billing-question.ts';

const monthsOffered = 6;

/** Links to the latest months, and to all time. */
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

/** The period, zone and dimensions, to be asked again. */
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

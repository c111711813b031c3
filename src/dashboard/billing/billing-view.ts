import { reportBillingLines } from '../../engine/billing/billing.ts';
import type { EngineContext } from '../../engine/context.ts';
import { isFigure } from '../../ledger/billing/figures.ts';
import type { BillingDimension, BillingLine, BillingQuery } from '../../ledger/billing/report.ts';
import { createBillingCharts } from '../../report/billing/billing-charts.ts';
import { billingSheet } from '../../report/billing/billing-sheet.ts';
import { formatPayer } from '../../report/billing/billing-words.ts';
import type { Column, Columns, Link } from '../../report/column.ts';
import { chartFigure } from '../../report/html/chart.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { formatLocal } from '../../report/time.ts';
import type { PageContent } from '../base/layout.ts';
import type { View } from '../base/view.ts';
import { chooseColumns, downloadLinks, listTable, pager } from '../parts/list.ts';
import { agePart } from '../parts/parts.ts';
import {
  addressOf,
  type BillingQuestion,
  isDimension,
  namePeriod,
  narrow,
  ofMonth,
  without,
} from './billing-question.ts';

export function billingAnswer(
  question: BillingQuestion,
  query: BillingQuery,
  part: BillingPart,
  view: View,
): Pick<PageContent, 'body' | 'cookie'> {
  if (part.count === 0) return { body: html`${nothingSent(question)}${agePart(part.asOf)}` };
  const { table, form, cookie } = billingTable(question, query, part, view);
  return {
    cookie,
    body: html`${billingState(part, query)}
${agePart(part.asOf)}
${billingCharts(question, part)}
${table}
${billingPager(question, part)}
${form}
${downloadLinks((format) => addressOf('/billing/download', question, { format }))}`,
  };
}

function nothingSent(question: BillingQuestion): Html {
  const [filter] = question.filters;
  if (filter === undefined && question.from === '' && question.to === '')
    return html`<p class="empty">Nothing was sent yet. Start a run of a <a href="/campaigns">campaign</a>; its costs are here as soon as it sends.</p>`;
  const period = namePeriod(question);
  const when = period === 'all time' ? '' : /^(from|until) /.test(period) ? ` ${period}` : ` in ${period}`;
  const wider = filter === undefined ? { ...question, from: '', to: '' } : without(question, filter[0]);
  const name = filter === undefined ? 'Show all time' : `Show every ${filter[0]}`;
  return html`<p class="empty">Nothing was sent${when}${filter && ' with these filters'}.
<a href="${addressOf('/billing', wider)}">${name}</a>.</p>`;
}

function billingState({ closing, totals }: BillingPart, { timeZone }: BillingQuery): Html {
  const corrected = totals.some(({ corrections }) => corrections);
  return html`<p>${
    closing
      ? html`<strong>Closed</strong> ${formatLocal(closing.closedAt, timeZone)} (${timeZone}) by <bdi>${closing.closedBy}</bdi>: these figures do not change.`
      : html`<strong>Open:</strong> figures change as answers and delivery reports come.`
  }${corrected && ' Lines with a month in “Correction of” correct a month that was closed before.'}</p>`;
}

/** The first with more than one value. */
export function costDimension({ by, filters }: BillingQuestion): string | undefined {
  return by.find((dimension) => !filters.some(([filtered]) => filtered === dimension)) ?? by[0];
}

function billingCharts(question: BillingQuestion, { totals, charted, sums }: BillingPart): Html {
  const order = question.sort === '' ? 'largest first' : 'as given';
  const charts = createBillingCharts(charted, totals, sums, order);
  return html`<section class="charts" aria-label="Charts">
${charts.map((chart, index) => chartFigure(chart, `chart-${index + 1}`))}
</section>`;
}

function billingTable(question: BillingQuestion, query: BillingQuery, part: BillingPart, view: View) {
  const { asOf, lines, totals, closing, first, count } = part;
  const sheet = billingSheet(query, { totals, closing }, asOf);
  const isFixed = ({ key }: Column<BillingLine>): boolean =>
    isDimension(key) || ['kind', 'correctionOf', 'currency'].includes(key);
  const { form, cookie, ...chosen } = chooseColumns('billing', sheet.columns, isFixed, view);
  const columns = currencyBesideNames(chosen.columns, totals).map(
    (column): Column<BillingLine> => ({
      ...column,
      target: (line) => targetOf(question, query.by, line, column),
    }),
  );
  const shown = lines.map((line) => ({ ...line, values: line.values.map(formatPayer) }));
  const range =
    lines.length === count
      ? ''
      : `, lines ${groupThousands(first + 1)} to ${groupThousands(first + lines.length)} of ${groupThousands(count)}`;
  const sums = sheet.totals?.();
  const table = listTable(
    {
      caption: `Billing: ${namePeriod(question)}${range}`,
      columns,
      rows: shown,
      totals: Array.isArray(sums) ? sums : [],
      sorting: {
        sort: query.sort,
        isKey: (key) => query.by.some((dimension) => dimension === key) || isFigure(key),
        pathOf: ({ by, descending }) =>
          addressOf('/billing', { ...question, sort: `${descending ? '-' : ''}${by}` }),
      },
    },
    { zone: query.timeZone },
  );
  return { table, form, cookie };
}

/** Lines of one name differ by their currency only, so it stands beside the name. */
function currencyBesideNames(
  columns: Columns<BillingLine>,
  totals: BillingPart['totals'],
): Columns<BillingLine> {
  const isCurrency = ({ key }: Column<BillingLine>): boolean => key === 'currency';
  if (new Set(totals.map(({ currency }) => currency)).size < 2) return columns;
  const others = columns.filter((column) => !isCurrency(column));
  const first = others.findIndex(({ kind }) => kind !== 'text');
  return [...others.slice(0, first), ...columns.filter(isCurrency), ...others.slice(first)];
}

/** A value leads to its own figures, a run to its page, and a number of requests or recipients to the requests. */
function targetOf(
  question: BillingQuestion,
  by: readonly BillingDimension[],
  line: BillingLine,
  { key }: Column<BillingLine>,
): Link | undefined {
  // A total leads nowhere.
  if ('corrections' in line) return undefined;
  if (key === 'requests' || key === 'recipients')
    return { kind: 'page', path: requestsAddress(question, by, line) };
  if (!isDimension(key)) return undefined;
  const value = line.values[by.indexOf(key)] ?? undefined;
  if (value === undefined) return undefined;
  return key === 'run'
    ? { kind: 'run', run: value }
    : { kind: 'page', path: addressOf('/billing', narrow(question, key, value)) };
}

/** The address of the requests behind a line, of all runs. Those of a correction were sent in an earlier month. */
function requestsAddress(
  question: BillingQuestion,
  by: readonly BillingDimension[],
  { values, kind, correctionOf }: BillingLine,
): string {
  const month = correctionOf === null ? question : ofMonth(question, correctionOf);
  const asked = by.reduce((wider, dimension, index) => narrow(wider, dimension, values[index] ?? ''), month);
  return addressOf('/billing/requests', { ...asked, by: [], sort: '' }, { kind });
}

export const linesPerPage = 100;

function billingPager(question: BillingQuestion, { first, lines, count }: BillingPart): Html | undefined {
  if (lines.length === count) return undefined;
  const page = Math.floor(first / linesPerPage) + 1;
  const link = (to: number, text: string) => ({
    href: addressOf('/billing', question, { page: String(to) }),
    text,
  });
  return pager({
    previous: page > 1 ? link(page - 1, 'Previous lines') : undefined,
    next: first + lines.length < count ? link(page + 1, 'Next lines') : undefined,
    place: `Page ${page} of ${Math.ceil(count / linesPerPage)}`,
  });
}

/** A part of the lines of a report, the number of all, and the sums of all of them. */
type BillingPart = Awaited<ReturnType<typeof readBilling>>;

type WantedPart = {
  readonly first: number;
  readonly limit: number;
  readonly charted: readonly BillingDimension[];
};

/**
 * Reads the whole report and keeps a part of its lines, so totals are of all.
 *
 * @param first from 0
 * @param charted dimensions by which costs are added up
 */
export function readBilling(
  context: EngineContext,
  query: BillingQuery,
  { first, limit, charted }: WantedPart,
) {
  return reportBillingLines(context, query, async ({ lines: batches, sumBy, ...report }) => {
    const lines: BillingLine[] = [];
    let count = 0;
    for await (const batch of batches) {
      lines.push(...batch.slice(Math.max(0, first - count), Math.max(0, first + limit - count)));
      count += batch.length;
    }
    return { ...report, lines, first, count, charted, sums: await sumBy(charted) };
  });
}

import { Big } from 'big.js';
import type { AsOf } from '../../domain/replica.ts';
import type { PayerCosts } from '../../ledger/billing/run-costs.ts';
import { formatPayer } from '../billing/billing-words.ts';
import type { Chart } from '../html/chart.ts';
import { createBarChart, createFunnelChart, createTimeChart } from '../html/charts.ts';
import { createTablePart, formatPage } from '../html/page.ts';
import { toSheet } from './report-table.ts';
import { formatRunHeading, type RunDetails } from './run-details.ts';
import { countsTable, runTables } from './run-tables.ts';

/** Charts, then every table that has lines. */
export async function* formatRunPage(
  details: RunDetails,
  asOf: AsOf,
): AsyncGenerator<string, void, undefined> {
  const tables = [countsTable(details), ...runTables(details)].filter(({ lines }) => lines.length > 0);
  yield* formatPage({
    ...formatRunHeading(details),
    asOf,
    charts: runCharts(details),
    tables: tables.map((table) => createTablePart(toSheet(table, asOf), table.title)),
  });
}

function runCharts({ summary, sending, money, timeZone }: RunDetails): Chart[] {
  const { accepted, delivered, undelivered, total } = summary.recipients;
  const charts = [
    createFunnelChart('From contacts to deliveries', [
      { name: 'Contacts', count: summary.contacts.read },
      { name: 'Recipients', count: total },
      { name: 'Accepted', count: accepted + delivered + undelivered },
      { name: 'Delivered', count: delivered },
    ]),
    createTimeChart(
      `Recipients by ${sending.unit} (${timeZone})`,
      sending.unit,
      sending.sends.map(({ at, recipients }) => ({ at, count: recipients })),
    ),
  ];
  if (money === null) return charts;
  // Without prices in delivery reports, the estimate is drawn.
  const what = new Big(money.price).eq(0) ? 'estimated' : 'price';
  const name = what === 'price' ? 'Price' : 'Estimated cost';
  const currency = money.currency === null ? '' : `, ${money.currency}`;
  const costsAny = (line: { readonly price: string; readonly estimated: string }) =>
    !new Big(line[what]).eq(0);
  const costs = ({ lines, others }: PayerCosts) =>
    [
      lines.filter(costsAny).map((line) => ({ name: formatPayer(line.value), value: line[what] })),
      others && costsAny(others) ? { count: others.count, value: others[what] } : undefined,
    ] as const;
  charts.push(
    createBarChart(`${name} by SubAccount${currency}`, ...costs(money.bySubAccount)),
    createBarChart(`${name} by ChargeCode${currency}`, ...costs(money.byChargeCode)),
  );
  return charts;
}

import type { LiveRun } from '../../engine/live/live-runs.ts';
import type { PayerCost, RunCosts } from '../../ledger/billing/run-costs.ts';
import { createAmountFormat } from '../../platform/money.ts';
import type { Columns } from '../../report/column.ts';
import { time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import {
  estimatedColumn,
  payerColumn,
  priceColumn,
  recipientsColumn,
} from '../../report/lists/run-results.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, number } from '../parts/parts.ts';

/** Milliseconds. A page says when costs were booked that are older: booking rests longer than it takes. */
const currentFor = 2_000;

/** What the run costs so far, and those who pay most. */
export function costsPart({ costs, at }: LiveRun, viewer: Viewer): Html | undefined {
  if (costs.total.recipients === 0) return undefined;
  const { total, currency, bySubAccount, byChargeCode, subAccounts, chargeCodes } = costs;
  const { asOf } = costs;
  const isOld = asOf !== undefined && at.getTime() - asOf.getTime() > currentFor;
  const amount = amountsOf(costs);
  const amounts = { price: amount, estimated: currency === null ? () => '–' : amount };
  const inCurrency = currency === null ? '' : ` ${currency}`;
  return html`<section aria-labelledby="costs-title" id="costs">
<h2 id="costs-title">Cost so far ${isOld && html`<small>as of ${time(asOf, viewer.zone)}</small>`}</h2>
${figures([
  {
    name: 'Estimated',
    value: `${amounts.estimated(total.estimated)}${inCurrency}`,
    note: estimateRemark(costs),
  },
  { name: 'In delivery reports', value: `${amount(total.price)}${inCurrency}` },
  { name: 'For accepted recipients', value: number(total.accepted) },
])}
<div class="side-by-side">
${payerTable('SubAccount', bySubAccount, subAccounts, { amounts, viewer })}
${payerTable('ChargeCode', byChargeCode, chargeCodes, { amounts, viewer })}
</div>
</section>`;
}

function estimateRemark({ currency, total }: RunCosts): string {
  if (currency === null) return 'The account has no rate card.';
  return total.unrated > 0 ? `without ${number(total.unrated)} recipients that have no rate` : 'without tax';
}

type Amounts = Readonly<Record<'price' | 'estimated', (exact: string) => string>>;

function payerTable(
  name: string,
  rows: readonly PayerCost[],
  of: number,
  { amounts, viewer }: { readonly amounts: Amounts; readonly viewer: Viewer },
): Html {
  const title =
    of > rows.length ? `${name}: the ${rows.length} of ${number(of)} that pay most` : `By ${name}`;
  const columns: Columns<PayerCost> = [
    payerColumn(name),
    recipientsColumn,
    { ...estimatedColumn, shown: ({ estimated }) => amounts.estimated(estimated) },
    { ...priceColumn, shown: ({ price }) => amounts.price(price) },
  ];
  return listTable({ caption: title, columns, rows }, viewer);
}

function amountsOf({ total, bySubAccount, byChargeCode }: RunCosts): (exact: string) => string {
  const shown = [total, ...bySubAccount, ...byChargeCode];
  const format = createAmountFormat(shown.flatMap(({ price, estimated }) => [price, estimated]));
  return (exact) => groupThousands(format(exact));
}

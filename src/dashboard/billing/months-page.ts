import type { FastifyInstance } from 'fastify';
import { type Closing, listClosings } from '../../ledger/billing/close.ts';
import { addMonths, monthAfter } from '../../platform/months.ts';
import { pickColumns } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { monthColumns } from '../../report/lists/months.ts';
import { formatLocal } from '../../report/time.ts';
import { addPage } from '../base/pages.ts';
import type { View } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';
import { listTable } from '../parts/list.ts';
import { pathWith } from '../paths.ts';
import { nameMonth } from './billing-form.ts';

/** Closed months, and the next one to close. */
export function addMonthsPage(server: FastifyInstance): void {
  addPage(server, { path: '/billing/months', scope: 'read' }, async (view) => {
    const closings = await listClosings(view.context.ledger.pool);
    return {
      title: 'Closed months',
      within: { href: '/billing', text: 'Billing' },
      body: html`<p>The billing report of a closed month does not change. Later changes of its requests go to the next month, as corrections.
Months are closed one after the other.</p>
${closings.length === 0 ? html`<p class="empty">No month is closed yet.</p>` : closingTable(closings, view)}
${nextToClose(view, closings.at(-1))}`,
    };
  });
}

function closingTable(closings: readonly Closing[], view: View): Html {
  const columns = pickColumns<Closing>(
    monthColumns,
    {
      key: 'period',
      shown: ({ period }) => nameMonth(period),
      target: (closing) => ({ kind: 'page', path: monthAddress(closing) }),
    },
    'timeZone',
    'closedAt',
    'closedBy',
  );
  return listTable({ caption: 'Closed months', columns, rows: closings.toReversed() }, view);
}

export function monthAddress({ period, timeZone }: Pick<Closing, 'period' | 'timeZone'>): string {
  return pathWith('/billing', { from: period, to: monthAfter(period), timeZone });
}

/** After the last closed month; without one, the last month that is over. */
function monthToClose(
  last: Closing | undefined,
  { zone, now }: Pick<View, 'zone' | 'now'>,
): { readonly month: string; readonly timeZone: string; readonly isOver: boolean } {
  const timeZone = last?.timeZone ?? zone;
  const current = formatLocal(now, timeZone).slice(0, 7);
  const month = last ? monthAfter(last.period) : addMonths(current, -1);
  return { month, timeZone, isOver: month < current };
}

function nextToClose(view: View, last: Closing | undefined): Html | undefined {
  const { month, timeZone, isOver } = monthToClose(last, view);
  const name = `${nameMonth(month)} (${timeZone})`;
  if (!isOver) return html`<p>The next month to close is ${name}, when it is over.</p>`;
  if (!view.mayAdmin || view.session.accounts !== null)
    return html`<p>The next month to close is ${name}. A token with the scope admin for all accounts may close it.</p>`;
  if (!last) return firstToClose(month, timeZone);
  return html`<p><a class="button" href="/billing/close?month=${month}&amp;timeZone=${encodeURIComponent(timeZone)}">Close ${name}</a></p>`;
}

/** A wrong time zone could not be changed later. */
function firstToClose(month: string, timeZone: string): Html {
  return html`<h2>Close the first month</h2>
<p>Choose the time zone in which your months start and end. All later months are closed in it too, and a closed month cannot be opened again.</p>
<form method="get" action="/billing/close">
<input type="hidden" name="month" value="${month}">
${textField({ name: 'timeZone', label: 'Time zone', value: timeZone, hint: 'such as Pacific/Auckland' })}
<p class="buttons"><button>Close ${nameMonth(month)}</button></p>
</form>`;
}

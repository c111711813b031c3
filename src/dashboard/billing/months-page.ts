import { closeMonth, findLastMonthSent, readMonth } from '../../engine/billing/billing.ts';
import { listAudit } from '../../ledger/audit/audit.ts';
import { type Closing, listClosings } from '../../ledger/billing/close.ts';
import type { BillingTotal } from '../../ledger/billing/report.ts';
import { addMonths, monthAfter } from '../../platform/months.ts';
import { timeZone as timeZoneName } from '../../platform/scalars.ts';
import { pickColumns } from '../../report/column.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { monthColumns, noMonths } from '../../report/lists/months.ts';
import { formatLocal } from '../../report/time.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { zoneField } from '../parts/form-fields.ts';
import { listTable } from '../parts/list.ts';
import { pathWith } from '../paths.ts';
import { nameMonth } from './billing-question.ts';

export function addMonthsPages({ addPage, addAction }: Tools): void {
  addPage({ path: '/billing/months', scope: 'read' }, async (view) => {
    const closings = await listClosings(view.context.ledger.pool);
    const next = await monthToClose(closings.at(-1), view);
    return {
      title: 'Closed months',
      within: { href: '/billing', text: 'Billing' },
      body: html`<p>The billing report of a closed month does not change. Later changes of its requests go to the next month, as corrections.
Months are closed one after the other.</p>
${closings.length === 0 ? html`<p class="empty">${noMonths}</p>` : closingTable(closings, view)}
${nextToClose(view, next)}
${view.session.accounts === null && (await keptInvoices(view))}`,
    };
  });
  addCloseMonth(addAction);
}

function closingTable(closings: readonly Closing[], view: View): Html {
  const columns = pickColumns(
    monthColumns,
    {
      key: 'period',
      shown: ({ period }) => nameMonth(period),
      target: ({ period: month, timeZone }) => ({ kind: 'page', path: addressOfMonth({ month, timeZone }) }),
    },
    'timeZone',
    'closedAt',
    'closedBy',
  );
  return listTable({ caption: 'Closed months', columns, rows: closings.toReversed() }, view);
}

function addressOfMonth({ month, timeZone }: MonthToClose): string {
  return pathWith('/billing', { from: month, to: monthAfter(month), timeZone });
}

/** What came of comparing the last invoices, with the months that they are of. */
async function keptInvoices(view: View): Promise<Html | false> {
  const rows = await listAudit(view.context.ledger.pool, { action: 'invoice kept' }, 50);
  const columns = pickColumns(auditColumns, { key: 'subject', title: 'Period' }, 'details', 'who', 'at');
  return (
    rows.length > 0 &&
    listTable({ caption: 'Invoices that were compared', columns, rows, id: 'invoices' }, view)
  );
}

type NextMonth = MonthToClose & { readonly isFirst: boolean; readonly isOver: boolean };

/** The month to close next: the one after the last closed month, or the last before this one in which anything was sent. */
async function monthToClose(last: Closing | undefined, view: View): Promise<NextMonth> {
  const timeZone = last?.timeZone ?? view.zone;
  const current = formatLocal(view.now, timeZone).slice(0, 7);
  const next = last
    ? monthAfter(last.period)
    : await findLastMonthSent(view.context, { until: `${current}-01`, timeZone });
  const month = next ?? addMonths(current, -1);
  return { month, timeZone, isFirst: last === undefined, isOver: month < current };
}

function nextToClose(view: View, { month, timeZone, isFirst, isOver }: NextMonth): Html {
  const name = `${nameMonth(month)} (${timeZone})`;
  if (!isOver) return html`<p>The next month to close is ${name}, when it is over.</p>`;
  if (!view.mayAdmin || view.session.accounts !== null)
    return html`<p>The next month to close is ${name}. A token with the scope admin for all accounts may close it.</p>`;
  if (isFirst) return firstToClose(month, timeZone);
  return html`<p><a class="button" href="/billing/close?month=${month}&amp;timeZone=${encodeURIComponent(timeZone)}">Close ${name}</a></p>`;
}

/** A wrong time zone could not be changed later. */
function firstToClose(month: string, timeZone: string): Html {
  return html`<h2>Close the first month</h2>
<p>The last month in which anything was sent is ${nameMonth(month)}. Closing it closes all before it. A closed month cannot be opened again.</p>
<p>Choose the time zone in which your months start and end. It stays: all later months are closed in it too.</p>
<form method="get" action="/billing/close">
<input type="hidden" name="month" value="${month}">
${zoneField(timeZone)}
<p class="buttons"><button>Close ${nameMonth(month)}</button></p>
</form>`;
}

type MonthToClose = { readonly month: string; readonly timeZone: string };

/** Closes a month for all accounts. */
function addCloseMonth(addAction: Tools['addAction']): void {
  addAction({
    path: '/billing/close',
    scope: 'admin',
    allAccounts: true,
    ask: async (view, { query }) => {
      const asked = monthOf(query);
      const closings = await listClosings(view.context.ledger.pool);
      return {
        title: `Close ${nameMonth(asked.month)}`,
        button: `Close ${nameMonth(asked.month)}`,
        within: { href: '/billing/months', text: 'Closed months' },
        body: closingText(asked, await readMonth(view.context, asked), closings.length === 0),
      };
    },
    act: async (view, { query }, { reason = '' }) => {
      const asked = monthOf(query);
      await closeMonth(view.context, { ...asked, closedBy: view.session.owner, reason });
      return { to: addressOfMonth(asked), notice: `${nameMonth(asked.month)} is closed.` };
    },
  });
}

/** @throws InputError */
function monthOf(fields: Fields): MonthToClose {
  const [month, zone] = [textIn(fields, 'month'), textIn(fields, 'timeZone')];
  const parsed = timeZoneName.safeParse(zone);
  if (!/^(19|20|21)\d\d-(0[1-9]|1[0-2])$/.test(month)) refuse('month', 'Expected a month such as 2026-11.');
  if (!parsed.success) refuse('timeZone', 'Expected a time zone such as Pacific/Auckland.');
  return { month, timeZone: parsed.data };
}

/** What closing does, with the figures that it fixes. */
function closingText(asked: MonthToClose, totals: readonly BillingTotal[], isFirst: boolean): Html {
  const sum = (figure: (total: BillingTotal) => number): string =>
    groupThousands(totals.reduce((all, total) => all + figure(total), 0));
  const prices = totals.map(({ kind, currency, price }) =>
    [groupThousands(price), currency, kind === 'test' && '(tests)'].filter(Boolean).join(' '),
  );
  return html`<p>The billing report of ${nameMonth(asked.month)} (${asked.timeZone}) stays the same from now on. Later changes of its requests go to the next month, as corrections. A closed month cannot be opened again.${isFirst && ` All later months are closed in ${asked.timeZone} too.`}</p>
<p>It concerns <strong>${sum(({ recipients }) => recipients)} recipients</strong>: ${sum(({ delivered }) => delivered)} delivered, ${sum(({ undelivered }) => undelivered)} undelivered, ${sum(({ failed }) => failed)} failed, ${sum(({ unknown }) => unknown)} unknown, ${sum(({ notYetReported }) => notYetReported)} not yet reported.</p>
<p>Price: ${prices.join(', ') || '0'}. <a href="${addressOfMonth(asked)}">Look at the report first</a>.</p>`;
}

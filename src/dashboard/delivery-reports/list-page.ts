import type { FastifyInstance } from 'fastify';
import { pageUnresolvedReports, unresolvedStates } from '../../ledger/delivery-reports/page.ts';
import { pickColumns } from '../../report/column.ts';
import { html } from '../../report/html/html.ts';
import { deliveryReportColumns } from '../../report/lists/delivery-reports.ts';
import { textIn, wordIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { notFound } from '../base/view.ts';
import { pagedList } from '../parts/list.ts';
import { deliveryReportsPath } from '../paths.ts';
import { unresolvedWords } from './live-part.ts';

const reportsPerPage = 100;

const columns = pickColumns(
  deliveryReportColumns,
  'receivedAt',
  'account',
  'address',
  'messageId',
  'run',
  'content',
);

/** The delivery reports behind a figure, the last to arrive first. */
export function addListPage(server: FastifyInstance): void {
  addPage(server, { path: '/delivery-reports/list', scope: 'read' }, async (view, { query }) => {
    const { context, session } = view;
    const state = wordIn(query, 'state', unresolvedStates) ?? notFound('There is no such list.');
    const address = textIn(query, 'address') || undefined;
    const before = /^\d{1,18}$/.exec(textIn(query, 'before'))?.[0];
    const filter = { state, accounts: session.accounts, address };
    const range = { before, limit: reportsPerPage + 1 };
    const found = await pageUnresolvedReports(context.ledger.pool, filter, range);
    const { name, what } = unresolvedWords[state];
    return {
      title: `${name}${address === undefined ? '' : ` (${address})`}`,
      within: { href: '/delivery-reports', text: 'Delivery reports' },
      body: html`<p>${what}</p>
${pagedList(
  {
    caption: 'The last to arrive first',
    columns,
    found,
    perPage: reportsPerPage,
    none: html`<p class="empty">There are none${before !== undefined && ' before those'}.</p>`,
    next: ({ report }) => ({
      href: deliveryReportsPath('list', { state, address, before: report }),
      text: 'Earlier ones',
    }),
  },
  view,
)}`,
    };
  });
}

import type { FastifyInstance } from 'fastify';
import type { ListedDeliveryReport } from '../../ledger/delivery-reports/list.ts';
import {
  pageUnresolvedReports,
  type UnresolvedState,
  unresolvedStates,
} from '../../ledger/delivery-reports/page.ts';
import { type Html, html } from '../../report/html/html.ts';
import { textIn, wordIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { notFound } from '../base/view.ts';
import { longText } from '../parts/long-text.ts';
import { type TableColumn, table, time } from '../parts/parts.ts';
import { deliveryReportsPath, recipientPath, runPath } from '../paths.ts';
import { unresolvedWords } from './live-part.ts';

const reportsPerPage = 100;

/** The delivery reports behind a figure, the last to arrive first. */
export function addListPage(server: FastifyInstance): void {
  addPage(server, { path: '/delivery-reports/list', scope: 'read' }, async (view, { query }) => {
    const { context, session, zone } = view;
    const state = wordIn(query, 'state', unresolvedStates) ?? notFound('There is no such list.');
    const address = textIn(query, 'address') || undefined;
    const before = /^\d{1,18}$/.exec(textIn(query, 'before'))?.[0];
    const filter = { state, accounts: session.accounts, address };
    const range = { before, limit: reportsPerPage + 1 };
    const found = await pageUnresolvedReports(context.ledger.pool, filter, range);
    const shown = found.slice(0, reportsPerPage);
    const last = found.length > shown.length ? shown.at(-1) : undefined;
    const { name, what } = unresolvedWords[state];
    const asked = { state, ...(address !== undefined && { address }) };
    return {
      title: `${name}${address === undefined ? '' : ` (${address})`}`,
      within: { href: '/delivery-reports', text: 'Delivery reports' },
      body: html`<p>${what}</p>
${shown.length === 0 ? html`<p class="empty">There are none${before !== undefined && ' before those'}.</p>` : reportTable(state, shown, zone)}
${last && html`<p><a rel="next" href="${deliveryReportsPath('list', { ...asked, before: last.report })}">Earlier ones</a></p>`}`,
    };
  });
}

function reportTable(state: UnresolvedState, reports: readonly ListedDeliveryReport[], zone: string): Html {
  return table<ListedDeliveryReport>(
    `The last to arrive first (${zone})`,
    [
      { title: 'Arrived', cell: ({ receivedAt }) => time(receivedAt, zone) },
      { title: 'Account', cell: ({ account }) => account },
      {
        title: 'Address',
        cell: ({ address }) => address && html`<a href="${recipientPath(address)}">${address}</a>`,
      },
      {
        title: 'MessageID',
        cell: ({ messageId, jobNumber }) => {
          const id = messageId ?? jobNumber;
          return id && html`<a href="${recipientPath(id)}">${id}</a>`;
        },
      },
      { title: 'Run', cell: ({ run }) => run && html`<a href="${runPath(run)}">${run}</a>` },
      ...(state === 'inbound' ? [replyColumn] : [wordsColumn]),
      ...(reports.some(({ why }) => why) ? [whyColumn] : []),
    ],
    reports,
  );
}

type Column = TableColumn<ListedDeliveryReport>;

const replyColumn: Column = { title: 'Reply', cell: ({ text }) => text && longText(text) };

const wordsColumn: Column = {
  title: 'What it says',
  cell: ({ status, result }) => longText([status, result].filter(Boolean).join(', ')),
};

const whyColumn: Column = { title: 'Why', cell: ({ why }) => why && longText(why) };

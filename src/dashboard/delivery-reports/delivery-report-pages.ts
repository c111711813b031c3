import type { FastifyInstance } from 'fastify';
import { createBackgroundApplier } from '../../engine/delivery-reports/apply-in-background.ts';
import { createPollJobs } from '../../engine/delivery-reports/poll-jobs.ts';
import { readDeliveryReports } from '../../engine/live/live-delivery-reports.ts';
import { pageUnresolvedReports, unresolvedStates } from '../../ledger/delivery-reports/list.ts';
import { pickColumns } from '../../report/column.ts';
import { html } from '../../report/html/html.ts';
import { deliveryReportColumns } from '../../report/lists/delivery-reports.ts';
import { textIn, wordIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { notFound } from '../base/view.ts';
import { pagedList } from '../parts/list.ts';
import { deliveryReportsPath } from '../paths.ts';
import { addAsk, addReplay } from './actions.ts';
import { livePart, unresolvedWords } from './live-part.ts';
import { addMissingPage } from './missing-page.ts';

/** What arrived of the service, what is missing, and what is to be looked at. */
export function addDeliveryReportPages(server: FastifyInstance, tools: Tools): void {
  const { context, logger, campaignSource, live } = tools;
  const { settings } = campaignSource;
  const jobs = createPollJobs(settings);
  const applier = createBackgroundApplier(settings, logger);
  server.addHook('onClose', async () => {
    await Promise.all([jobs.close(), applier.close()]);
  });
  live.addPage(server, {
    path: '/delivery-reports',
    scope: 'read',
    open: async ({ session: { accounts } }) => ({
      key: `delivery reports ${JSON.stringify(accounts)}`,
      read: () => readDeliveryReports(context, accounts),
    }),
    render: livePart,
    around: () => ({ title: 'Delivery reports' }),
  });
  addListPage(server);
  addMissingPage(server);
  addReplay(server, applier);
  addAsk(server, jobs, settings);
}

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
function addListPage(server: FastifyInstance): void {
  addPage(server, { path: '/delivery-reports/list', scope: 'read' }, async (view, { query }) => {
    const { context, session } = view;
    const state = wordIn(query, 'state', unresolvedStates) ?? notFound('There is no such list.');
    const address = textIn(query, 'address') || undefined;
    const before = /^\d{1,18}$/.exec(textIn(query, 'before'))?.[0];
    const filter = { state, accounts: session.accounts, address };
    const range = { before, limit: reportsPerPage + 1 };
    const found = await pageUnresolvedReports(context.ledger.pool, filter, range);
    const { name, what } = unresolvedWords[state];
    const list = {
      caption: 'The last to arrive first',
      columns,
      found,
      perPage: reportsPerPage,
      none: html`<p class="empty">There are none${before !== undefined && ' before those'}.</p>`,
      next: ({ report }: (typeof found)[number]) => ({
        href: deliveryReportsPath('list', { state, address, before: report }),
        text: 'Earlier ones',
      }),
    };
    return {
      title: `${name}${address === undefined ? '' : ` (${address})`}`,
      within: { href: '/delivery-reports', text: 'Delivery reports' },
      body: html`<p>${what}</p>
${pagedList(list, view)}`,
    };
  });
}

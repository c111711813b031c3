import type { FastifyInstance } from 'fastify';
import { createBackgroundApplier } from '../../engine/delivery-reports/apply-in-background.ts';
import { createPollJobs } from '../../engine/delivery-reports/poll-jobs.ts';
import { readDeliveryReports } from '../../engine/live/live-delivery-reports.ts';
import { html } from '../../report/html/html.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { addDeliveryReportActions } from './actions.ts';
import { addListPage } from './list-page.ts';
import { livePart } from './live-part.ts';
import { addMissingPages } from './missing-page.ts';

export function addDeliveryReportPages(server: FastifyInstance, tools: Tools): void {
  const { context, logger, scheduleSource, live } = tools;
  const { settings } = scheduleSource;
  const jobs = createPollJobs(settings);
  const applier = createBackgroundApplier(settings, logger);
  server.addHook('onClose', async () => {
    await Promise.all([jobs.close(), applier.close()]);
  });
  addPage(server, { path: '/delivery-reports', scope: 'read' }, async (view) => ({
    title: 'Delivery reports',
    body: html``,
    live: {
      body: livePart(await readDeliveryReports(context, view.session.accounts), view),
      from: '/delivery-reports/live',
    },
  }));
  live.add(
    server,
    { path: '/delivery-reports/live', scope: 'read' },
    {
      open: async ({ session: { accounts } }) => ({
        key: `delivery reports ${JSON.stringify(accounts)}`,
        read: () => readDeliveryReports(context, accounts),
      }),
      render: livePart,
    },
  );
  addListPage(server);
  addMissingPages(server, tools, jobs);
  addDeliveryReportActions(server, { jobs, applier, settings });
}

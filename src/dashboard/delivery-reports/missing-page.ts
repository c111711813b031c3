import type { FastifyInstance } from 'fastify';
import { missingBounds } from '../../engine/live/live-delivery-reports.ts';
import { listRunsWithMissing, type RunMissing } from '../../ledger/operations/delivery-reports.ts';
import { type Columns, integerColumn, timeColumn } from '../../report/column.ts';
import { html } from '../../report/html/html.ts';
import { accountColumn, campaignColumn, runColumn } from '../../report/lists/usual.ts';
import { numberIn, textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import type { View } from '../base/view.ts';
import { pagedList } from '../parts/list.ts';
import { deliveryReportsPath, runPath } from '../paths.ts';

const runsPerPage = 50;

/** Runs with missing delivery reports. */
export function addMissingPage(server: FastifyInstance): void {
  addPage(server, { path: '/delivery-reports/missing', scope: 'read' }, async (view, { query }) => {
    const page = Math.max(1, numberIn(query, 'page'));
    const account = textIn(query, 'account') || undefined;
    const found = await listRuns(view, account, page);
    const next = { page: String(page + 1), account };
    return {
      title: 'Missing delivery reports',
      within: { href: '/delivery-reports', text: 'Delivery reports' },
      body: pagedList(
        {
          caption: 'Runs of the last seven days, the last sent first',
          columns: runsWithMissingColumns,
          found,
          perPage: runsPerPage,
          none: html`<p class="empty">No run of the last seven days misses a delivery report. Figures are as booked: some seconds old.</p>`,
          next: () => ({ href: deliveryReportsPath('missing', next), text: 'Earlier runs' }),
        },
        view,
      ),
    };
  });
}

function listRuns(
  { context, session }: View,
  account: string | undefined,
  page: number,
): Promise<RunMissing[]> {
  const { accounts } = session;
  const visible = account === undefined || (accounts && !accounts.includes(account)) ? accounts : [account];
  const [from = context.now()] = missingBounds(context.now());
  const range = { skip: (page - 1) * runsPerPage, limit: runsPerPage + 1 };
  return listRunsWithMissing(context.ledger.pool, { accounts: visible, from, until: context.now() }, range);
}

const runsWithMissingColumns: Columns<RunMissing> = [
  {
    ...runColumn,
    target: ({ run }) => ({ kind: 'page', path: runPath(run, 'recipients', { state: 'accepted' }) }),
  },
  campaignColumn,
  accountColumn,
  integerColumn('missing', 'Missing'),
  timeColumn('oldest', 'Sent, in the quarter of an hour from'),
];

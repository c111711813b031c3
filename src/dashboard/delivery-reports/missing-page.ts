import type { FastifyInstance } from 'fastify';
import { type PollJob, type PollJobs, requirePolling } from '../../engine/delivery-reports/poll-jobs.ts';
import { missingBounds } from '../../engine/live/live-delivery-reports.ts';
import { type MissingOfRun, pageMissingOfRun } from '../../ledger/delivery-reports/missing.ts';
import { listRunsWithMissing, type RunMissing } from '../../ledger/operations/delivery-reports.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { type Columns, integerColumn, pickColumns, timeColumn } from '../../report/column.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { missingColumns, missingTitle } from '../../report/lists/delivery-reports.ts';
import { accountColumn, campaignColumn, runColumn } from '../../report/lists/usual.ts';
import { formatPoll } from '../../report/look-up-words.ts';
import { numberIn, textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { orInputError, problemText } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { requireVisibleRun, type View, type Viewer } from '../base/view.ts';
import { cursorText, pagedList, parseCursor } from '../parts/list.ts';
import { askedPart } from '../parts/parts.ts';
import { deliveryReportsPath, runPath } from '../paths.ts';

const runsPerPage = 50;
const recipientsPerPage = 100;

/** Runs with missing delivery reports, and the recipients of one. */
export function addMissingPages(
  server: FastifyInstance,
  { limits, campaignSource }: Tools,
  jobs: PollJobs,
): void {
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
  const where = { path: '/delivery-reports/missing/:run', scope: 'read' } as const;
  addPage(server, where, async (view, asked) => {
    const run = await requireVisibleRun(view, asked);
    const range = { after: parseCursor(textIn(asked.query, 'after')), limit: recipientsPerPage + 1 };
    const found = await limits.page(() => pageMissingOfRun(view.context.ledger.pool, run.run, range));
    const noLookUp = problemText(await orInputError(requirePolling(campaignSource.settings, run.account)));
    const poll = { job: jobs.of(run.run), noLookUp, isMissing: found.length > 0 };
    return {
      title: `Missing delivery reports of ${run.campaign}`,
      within: { href: deliveryReportsPath('missing'), text: 'Missing delivery reports' },
      body: html`${pollPart(run, poll, view)}${recipientsPart(run, found, view)}`,
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
  { ...runColumn, target: ({ run }) => ({ kind: 'missing reports of run', run }) },
  campaignColumn,
  accountColumn,
  integerColumn('missing', 'Missing'),
  timeColumn('oldest', 'Sent, in the quarter of an hour from'),
];

function recipientsPart({ run }: Run, found: readonly MissingOfRun[], viewer: Viewer): Html {
  if (found.length === 0)
    return html`<p class="empty">No recipient of run <a href="${runPath(run)}">${run}</a> misses a final delivery report.</p>`;
  const list = {
    caption: missingTitle,
    columns: pickColumns(missingColumns, 'address', 'acceptedAt', 'lastStatus', 'messageId'),
    found,
    perPage: recipientsPerPage,
    none: html``,
    next: (last: MissingOfRun) => ({
      href: deliveryReportsPath(`missing/${run}`, { after: cursorText(last) }),
      text: 'More recipients',
    }),
  };
  return html`${pagedList(list, viewer)}
<p><a href="${runPath(run, 'download/missing', { format: 'csv' })}">All of them, as CSV</a>, <a href="${runPath(run)}">The run</a></p>`;
}

type PollState = {
  readonly job: PollJob | undefined;
  /** Why the service cannot be asked, if so. */
  readonly noLookUp: string | undefined;
  readonly isMissing: boolean;
};

function pollPart({ run }: Run, { job, noLookUp, isMissing }: PollState, viewer: Viewer): Html {
  const offered = viewer.mayRun && isMissing;
  const link = deliveryReportsPath(`missing/${run}/ask`);
  return html`${job && pollNote(job, viewer)}
${offered && noLookUp !== undefined && html`<p class="note">The service cannot be asked about them. ${noLookUp}</p>`}
${offered && noLookUp === undefined && job?.state !== 'asking' && html`<p><a class="button" href="${link}">Ask the service about them</a></p>`}`;
}

function pollNote(job: PollJob, viewer: Viewer): Html {
  const soFar = `${groupThousands(job.asked)} so far, ${groupThousands(job.reports)} final delivery reports`;
  return askedPart(job, { id: 'poll', soFar, found: formatPoll(job) }, viewer);
}

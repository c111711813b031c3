import {
  type BackgroundApplier,
  createBackgroundApplier,
} from '../../engine/delivery-reports/apply-in-background.ts';
import { replayDeliveryReports } from '../../engine/delivery-reports/apply-inbox.ts';
import {
  createPollJobs,
  type PollJob,
  type PollJobs,
  requirePolling,
} from '../../engine/delivery-reports/poll-jobs.ts';
import { missingBounds, readDeliveryReports } from '../../engine/live/live-delivery-reports.ts';
import {
  countUnresolvedReports,
  pageUnresolvedReports,
  unresolvedStates,
} from '../../ledger/delivery-reports/list.ts';
import { listRunsWithMissing, type RunMissing } from '../../ledger/operations/delivery-reports.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, integerColumn, pickColumns, timeColumn } from '../../report/column.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { deliveryReportColumns } from '../../report/lists/delivery-reports.ts';
import { accountColumn, campaignColumn, runColumn } from '../../report/lists/usual.ts';
import { formatPoll } from '../../report/look-up-words.ts';
import { numberIn, textIn, wordIn } from '../base/fields.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, requireVisibleRun, type Viewer } from '../base/view.ts';
import { pagedList } from '../parts/list.ts';
import { askedPart } from '../parts/parts.ts';
import { deliveryReportsPath, runPath } from '../paths.ts';
import { livePart, unresolvedWords } from './live-part.ts';

export function addDeliveryReportPages(tools: Tools): void {
  const { server, context, logger, campaignSource } = tools;
  const { settings } = campaignSource;
  const jobs = createPollJobs(settings);
  const applier = createBackgroundApplier(settings, logger);
  server.addHook('onClose', async () => {
    await Promise.all([jobs.close(), applier.close()]);
  });
  tools.addLivePage({
    path: '/delivery-reports',
    scope: 'read',
    open: async ({ session: { accounts } }) => ({
      key: `delivery reports ${JSON.stringify(accounts)}`,
      read: () => readDeliveryReports(context, accounts),
    }),
    render: livePart,
    around: () => ({ title: 'Delivery reports' }),
  });
  addListPage(tools);
  addMissingPage(tools);
  addReplay(tools, applier);
  addAsk(tools, jobs);
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

function addListPage({ addPage }: Tools): void {
  addPage({ path: '/delivery-reports/list', scope: 'read' }, async (view, { query }) => {
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

const runsPerPage = 50;

function addMissingPage({ addPage }: Tools): void {
  addPage({ path: '/delivery-reports/missing', scope: 'read' }, async (view, { query }) => {
    const page = Math.max(1, numberIn(query, 'page'));
    const account = textIn(query, 'account') || undefined;
    const { context, now, session } = view;
    const { accounts } = session;
    const visible = account === undefined || (accounts && !accounts.includes(account)) ? accounts : [account];
    const [from = now] = missingBounds(now);
    const range = { skip: (page - 1) * runsPerPage, limit: runsPerPage + 1 };
    const asked = { accounts: visible, from, until: now };
    const found = await listRunsWithMissing(context.ledger.pool, asked, range);
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

/** Reading again applies nothing twice: the scope `run` is enough. */
function addReplay({ addAction }: Tools, applier: BackgroundApplier): void {
  const within = { href: '/delivery-reports', text: 'Delivery reports' };
  addAction({
    path: '/delivery-reports/replay',
    scope: 'run',
    needsReason: () => false,
    ask: async ({ context, session: { accounts } }) => {
      const { unmatched, unreadable, failed } = await countUnresolvedReports(
        context.ledger.pool,
        accounts,
        null,
      );
      const all = unmatched + unreadable + failed;
      const asked = { title: 'Replay delivery reports', within };
      if (all === 0) {
        const body = html`<p>No delivery report${accounts && html` of ${accounts.join(', ')}`} is unmatched, unreadable or failed, so there is nothing to read again.</p>`;
        return { ...asked, body };
      }
      return {
        ...asked,
        body: html`<p><strong>${count(all, 'delivery report')}</strong>${accounts && html` of ${accounts.join(', ')}`} will be read again: ${groupThousands(unmatched)} unmatched, ${groupThousands(unreadable)} unreadable, ${groupThousands(failed)} failed. Each concerns at most one person.</p>
<p>None is applied twice. Do it after their cause is gone, such as a wrong field name in the accounts file. <code>volley delivery-reports replay --all</code> reads all delivery reports again.</p>`,
        button: 'Replay',
      };
    },
    act: async (view) => {
      const { accounts } = view.session;
      const replayed = await replayDeliveryReports(view.context, { accounts, all: false });
      applier.wake(view.context);
      return {
        to: '/delivery-reports',
        notice: `${count(replayed, 'delivery report')} will be read again.`,
      };
    },
  });
}

/** Asking the service changes nothing there: the scope `run` is enough. */
function addAsk({ addAction, campaignSource: { settings } }: Tools, jobs: PollJobs): void {
  addAction({
    path: '/delivery-reports/missing/:run/ask',
    scope: 'run',
    needsReason: () => false,
    ask: async (view, asked) => {
      const { run, campaign, account, purgedAt } = await requireVisibleRun(view, asked);
      if (purgedAt !== null) refuse(`run ${run}`, 'Its recipients were purged.');
      await requirePolling(settings, account);
      const job = jobs.of(run);
      return {
        title: `Ask about ${campaign}`,
        body: html`${job && pollNote(job, view)}
<p>Volley asks the service for the status of each request of run <code>${run}</code> with a missing delivery report, at most one a second, and each at most once in ten minutes. What it answers is applied like a delivery report. No recipient gets a message.</p>`,
        ...(job?.state !== 'asking' && { button: 'Ask the service' }),
        within: {
          href: runPath(run, 'recipients', { state: 'accepted' }),
          text: `Accepted recipients of ${campaign}`,
        },
      };
    },
    act: async (view, asked) => {
      const { run, account } = await requireVisibleRun(view, asked);
      await jobs.start(view.context, { run, account });
      return { to: deliveryReportsPath(`missing/${run}/ask`), notice: 'The service is being asked.' };
    },
  });
}

function pollNote(job: PollJob, viewer: Viewer): Html {
  const soFar = `${groupThousands(job.asked)} so far, ${groupThousands(job.reports)} final delivery reports`;
  return askedPart(job, { id: 'poll', soFar, found: formatPoll(job) }, viewer);
}

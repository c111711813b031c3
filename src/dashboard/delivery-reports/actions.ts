import type { FastifyInstance } from 'fastify';
import type { BackgroundApplier } from '../../engine/delivery-reports/apply-in-background.ts';
import { replayDeliveryReports } from '../../engine/delivery-reports/apply-inbox.ts';
import { type PollJob, type PollJobs, requirePolling } from '../../engine/delivery-reports/poll-jobs.ts';
import type { Settings } from '../../engine/settings.ts';
import { countUnresolvedReports } from '../../ledger/delivery-reports/list.ts';
import { count } from '../../platform/sentence.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { formatPoll } from '../../report/look-up-words.ts';
import { addAction } from '../base/actions.ts';
import { refuse } from '../base/problems.ts';
import { requireVisibleRun, type Viewer } from '../base/view.ts';
import { askedPart } from '../parts/parts.ts';
import { deliveryReportsPath, runPath } from '../paths.ts';

/** Reading again applies nothing twice: the scope `run` is enough. */
export function addReplay(server: FastifyInstance, applier: BackgroundApplier): void {
  const within = { href: '/delivery-reports', text: 'Delivery reports' };
  addAction(server, {
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
export function addAsk(server: FastifyInstance, jobs: PollJobs, settings: Settings): void {
  addAction(server, {
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

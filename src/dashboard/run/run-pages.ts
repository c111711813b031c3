import type { FastifyInstance } from 'fastify';
import { createLiveRuns, type LiveRun } from '../../engine/live/live-runs.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { noSuchRun } from '../../server/api/call.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, requireVisibleRun, type Viewer } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { addDoubtsPages } from './doubts-page.ts';
import { addRunDownloads, downloadsPart } from './downloads.ts';
import { livePart } from './live-part.ts';
import { addRecipientsPage } from './recipients-page.ts';
import { addSuppressUndelivered } from './suppress-action.ts';

/** The page of a run, and those below it. */
export function addRunPages(server: FastifyInstance, tools: Tools): void {
  const readLive = createLiveRuns(tools.context, tools.campaignSource.settings);
  const read = async (run: string): Promise<LiveRun> =>
    (await readLive(run)) ?? notFound(`${noSuchRun} any more.`);
  tools.live.addPage(server, {
    path: '/runs/:run',
    scope: 'read',
    open: async (view, asked) => {
      const { run } = await requireVisibleRun(view, asked);
      return { key: `run ${run}`, read: () => read(run) };
    },
    render: livePart,
    around: ({ head }, view) => ({
      title: `${head.campaign} (${head.run})`,
      within: { href: '/', text: 'Runs' },
      body: aboutPart(head, view),
      end: downloadsPart(head),
    }),
  });
  addRecipientsPage(server, tools);
  addSuppressUndelivered(server, tools);
  addDoubtsPages(server, tools);
  addRunDownloads(server, tools.limits);
}

/** What does not change while the run is sent: whose it is, and where to read more. The heading has its name. */
function aboutPart(head: ListedRun, { zone }: Viewer): Html {
  return html`<dl class="details in-a-line">
<div><dt>Account</dt><dd dir="auto">${head.account}</dd></div>
<div><dt>Channel</dt><dd>${head.channel}</dd></div>
<div><dt>Planned</dt><dd>${time(head.createdAt, zone)} ${zone}</dd></div>
<div><dt>More</dt><dd>${head.purgedAt === null && html`<a href="${runPath(head.run, 'plan')}">Plan and messages</a>, `}<a href="#downloads">downloads</a></dd></div>
</dl>`;
}

import type { FastifyInstance } from 'fastify';
import {
  type DescribedCampaign,
  describeCampaign,
  readCampaignText,
} from '../../engine/schedule/describe-campaigns.ts';
import { listRuns } from '../../ledger/runs/find.ts';
import { listLatestTicks } from '../../ledger/schedules/schedules.ts';
import { pickColumns } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runColumns } from '../../report/lists/runs.ts';
import { scheduleWords } from '../../report/schedule-words.ts';
import { problemItems } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View, type Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, section } from '../parts/parts.ts';
import { campaignPath, runsOfCampaignPath } from '../paths.ts';
import { nextTime, notRecordedText, tickMarks, ticksTable } from './campaign-words.ts';

const counts = { ticks: 30, next: 5 };
const shownRuns = 10;

/** A campaign file: what it says, when it runs, and what came of it. */
export function addCampaignPage(server: FastifyInstance, tools: Tools): void {
  const { campaignSource, live } = tools;
  live.addPage(server, {
    path: '/campaigns/:file',
    scope: 'read',
    open: async (view, { params }) => {
      const found = await requireCampaign(view, tools, params['file'] ?? '');
      const key = JSON.stringify(['campaign', found.file, found.campaign?.campaign, view.session.accounts]);
      return { key, read: () => readHistory(view, found) };
    },
    render: historyPart,
    around: async ({ found }, view) => {
      return {
        title: found.file,
        within: { href: '/campaigns', text: 'Campaigns' },
        body: html`${headPart(found, view, tools)}${schedulePart(found, view)}`,
        end: textPart(found, await readCampaignText(found.file, campaignSource)),
      };
    },
  });
}

/** @throws ProblemError when there is none for the accounts of the person */
export async function requireCampaign(
  { context, session }: View,
  { campaignSource }: Pick<Tools, 'campaignSource'>,
  file: string,
): Promise<DescribedCampaign> {
  const found = await describeCampaign(context, campaignSource, file, {
    accounts: session.accounts,
    ...counts,
  });
  return found ?? notFound('There is no such campaign file. The page of campaigns lists all.');
}

function headPart(
  { file, campaign, problems }: DescribedCampaign,
  { mayRun }: View,
  { uploads }: Pick<Tools, 'uploads'>,
): Html {
  const facts = campaign && [
    { name: 'Campaign', value: campaign.campaign },
    { name: 'Account', value: campaign.account },
    { name: 'Channel', value: campaign.channel },
  ];
  return html`${
    problems.length > 0 &&
    html`<section class="problems" aria-labelledby="faulty"><h2 id="faulty">No run of it can start now</h2>
${problemItems(problems)}
<p>Correct them, and open this page again.</p></section>`
  }
${facts && figures(facts)}
<ul class="links">
${mayRun && problems.length === 0 && html`<li><a class="button" href="${campaignPath(file, 'start')}">Start now</a></li>`}
${mayRun && uploads && problems.length === 0 && html`<li><a href="${campaignPath(file, 'list')}">Send to another list</a></li>`}
${campaign && html`<li><a href="${runsOfCampaignPath(campaign.campaign)}">All its runs</a></li>`}
</ul>`;
}

function schedulePart({ schedule, ticks }: DescribedCampaign, view: View): Html {
  if (!schedule) {
    const none = html`<p>It has no schedule: it runs when a person or a program starts it. <code>schedule</code> in its file gives it one.</p>`;
    return section('schedule', 'Schedule', none);
  }
  const { times, next } = schedule;
  const unkept = notRecordedText(schedule, view.now);
  const items = next.map((at) => html`<li>${nextTime(at, schedule, view)}</li>`);
  const body = html`<p><strong>${scheduleWords(times)}</strong>${times.cron !== undefined && html` (<code>${times.cron}</code>)`}. ${times.overlap === 'skip' ? 'It is skipped while its last run has not ended.' : 'It waits while its last run has not ended.'}</p>
${unkept !== undefined && html`<p class="banner">${unkept}</p>`}
${tickMarks(ticks.slice(0, 10), view)}
${next.length === 0 ? html`<p>It never runs again.</p>` : html`<h3>Next times (${view.zone})</h3><ol class="next-times">${items}</ol>`}`;
  return section('schedule', 'Schedule', body);
}

type History = Awaited<ReturnType<typeof readHistory>>;

/** What came of the campaign in accounts that the person may see. */
async function readHistory({ context, session }: View, found: DescribedCampaign) {
  const { ledger } = context;
  const { file, campaign } = found;
  const filter = { campaign: campaign?.campaign ?? '', accounts: session.accounts };
  return {
    found,
    ticks: await listLatestTicks(ledger.pool, [file], counts.ticks, session.accounts),
    runs: campaign ? await listRuns(ledger.knex, shownRuns, filter) : [],
  };
}

function historyPart({ ticks, runs }: History, viewer: Viewer): Html {
  const columns = pickColumns(runColumns, 'run', 'state', 'deliveredShare', 'createdAt', 'finishedAt');
  const list = { caption: 'Its latest runs', columns, rows: runs, id: 'runs' };
  const ran = runs.length === 0 ? html`<p>It has not run yet.</p>` : listTable(list, viewer);
  return html`${section('runs-part', 'Runs', ran)}
${ticks.length > 0 && section('ticks-part', 'Due times', ticksTable(ticks, viewer))}`;
}

function textPart({ file }: DescribedCampaign, text: string | undefined): Html {
  if (text === undefined) {
    const hidden = html`<p>Its text is not shown: it does not look like a campaign, so it could hold secrets. Open it on the machine of Volley.</p>`;
    return section('text', 'File', hidden);
  }
  const lines = text.split(/\r\n|\r|\n/).map(
    (line, index) => html`<span id="line-${index + 1}">${line}</span>
`,
  );
  const body = html`<p>Volley reads it, and never writes it.</p>
<pre class="file" tabindex="0" role="region" aria-label="Text of ${file}"><code>${lines}</code></pre>`;
  return section('text', 'File', body);
}

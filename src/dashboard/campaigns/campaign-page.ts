import { formatReason } from '../../domain/reasons.ts';
import { type CampaignToPlan, type StartRequest, startOnce } from '../../engine/access/start-by-key.ts';
import {
  type CampaignSchedule,
  type DescribedCampaign,
  describeCampaign,
  readCampaignText,
} from '../../engine/schedule/describe-campaigns.ts';
import { listRuns } from '../../ledger/runs/find.ts';
import { type ListedTick, listLatestTicks, type TickResult } from '../../ledger/schedules/schedules.ts';
import { pickColumns } from '../../report/column.ts';
import { badge, longText, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runColumns } from '../../report/lists/runs.ts';
import { tickColumns } from '../../report/lists/schedules.ts';
import { scheduleWords } from '../../report/schedule-words.ts';
import { formatLocal } from '../../report/time.ts';
import { problemItems } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View, type Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, section } from '../parts/parts.ts';
import { campaignPath, runPath, runsOfCampaignPath } from '../paths.ts';
import { addStartPage } from '../plan/start-page.ts';
import type { PlannedStart } from '../plan/start-part.ts';

const counts = { ticks: 30, next: 5 };
const shownRuns = 10;

export function addCampaignPages(tools: Tools): void {
  addStartAction(tools);
  tools.addLivePage({
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
        end: textPart(found, await readCampaignText(found.file, tools.campaignSource)),
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

function addStartAction(tools: Tools): void {
  addStartPage(tools, {
    path: '/campaigns/:file/start',
    needsReason: false,
    open: async (view, { params }) => {
      const { file } = await requireCampaign(view, tools, params['file'] ?? '');
      return {
        title: `Start ${file}`,
        within: { href: campaignPath(file), text: file },
        path: campaignPath(file, 'start'),
        query: {},
        ...campaignStart(view, tools, { campaign: file }),
      };
    },
  });
}

/** How a campaign, perhaps with other contact files, is planned, started and tried by a person. */
export function campaignStart(
  { context, session }: View,
  tools: Tools,
  campaign: Omit<CampaignToPlan, 'accounts' | 'fromRow'>,
): Pick<PlannedStart, 'key' | 'make' | 'button' | 'start' | 'test'> {
  const { planCampaign, startRun } = tools;
  const { name: token, accounts } = session;
  const subject = { ...campaign, accounts };
  const start = (how: Pick<StartRequest, 'key' | 'plan' | 'testTo' | 'testRow'>) =>
    startOnce(context, tools, () => startRun(context, { ...subject, token, ...how }));
  return {
    key: JSON.stringify(subject),
    make: (watch, fromRow) => planCampaign(context, { ...subject, fromRow }, watch),
    button: 'Start the run',
    start: ({ proof, repeats }) => start({ key: proof.id, plan: { proof, repeats } }),
    test: ({ key, row, address }) => start({ key, testTo: [address], testRow: row }),
  };
}

/** A due time in the zone of the person, and in that of the schedule if it is another. */
export function nextTime(at: Date, { times }: CampaignSchedule, { zone }: Viewer): Html {
  const other = times.timeZone !== zone;
  return html`${time(at, zone)}${other && html`<br><small>${formatLocal(at, times.timeZone)} ${times.timeZone}</small>`}`;
}

/** Milliseconds; processes record ticks every five seconds. */
const recordedWithin = 60_000;

/** Why nothing starts the schedule; undefined while a process does. */
export function notRecordedText({ recordedAt, next }: CampaignSchedule, now: Date): string | undefined {
  if (next.length === 0) return undefined;
  if (recordedAt !== undefined && now.getTime() - recordedAt.getTime() <= recordedWithin) return undefined;
  return 'No process starts this schedule. Start volley serve or volley worker with this folder of campaigns, and keep it running.';
}

/** @param place names the part of the page */
export function tickCell({ schedule, dueAt, state, run, reason }: ListedTick, place: string): Html {
  return html`${badge(state)}${run !== null && html` <a href="${runPath(run)}">${run}</a>`}${reason !== null && html` ${longText(formatReason(reason), `${place}-${schedule}-${dueAt.getTime()}`)}`}`;
}

/** What came of a due time: its word, and a sign that needs no colour. */
function resultOf({ state, runState, hasUnaccepted }: TickResult): { word: string; sign: string } {
  if (runState === null) return { word: state, sign: state === 'missed' || state === 'failed' ? '×' : '–' };
  if (runState !== 'completed') return { word: runState, sign: runState === 'running' ? '…' : '–' };
  return hasUnaccepted ? { word: 'completed, not all accepted', sign: '!' } : { word: runState, sign: 'ok' };
}

/** A mark for each of the latest due times, the newest last. */
export function tickMarks(ticks: readonly TickResult[], { zone }: Viewer): Html | undefined {
  if (ticks.length === 0) return undefined;
  const marks = ticks.toReversed().map((tick) => {
    const { word, sign } = resultOf(tick);
    const text = `${formatLocal(tick.dueAt, zone).slice(0, 16)}: ${word}`;
    const mark = html`<span aria-hidden="true">${sign}</span><span class="hidden">${text}</span>`;
    return html`<li data-sign="${sign}" title="${text}">${tick.run === null ? mark : html`<a href="${runPath(tick.run)}">${mark}</a>`}</li>`;
  });
  return html`<ul class="marks" aria-label="What came of the latest due times">${marks}</ul>`;
}

function ticksTable(ticks: readonly ListedTick[], viewer: Viewer): Html {
  return listTable(
    {
      caption: 'Times at which it was due, the newest first',
      columns: pickColumns(tickColumns, 'dueAt', 'state', 'run', 'reason'),
      rows: ticks,
      id: 'ticks',
      rowId: ({ dueAt }) => String(dueAt.getTime()),
    },
    viewer,
  );
}

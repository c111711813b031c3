import {
  type DescribedCampaign,
  describeCampaigns,
  listSchedulesWithoutFile,
  sinceLastRun,
} from '../../engine/schedule/describe-campaigns.ts';
import { listLastRuns, type RunWithOutcome } from '../../ledger/runs/find.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, textColumn, timeColumn } from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runStateWords } from '../../report/run/run-outcome.ts';
import { scheduleWords } from '../../report/schedule-words.ts';
import { problemItems } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { campaignPath, runPath } from '../paths.ts';
import { nextTime, notRecordedText, tickCell, tickMarks } from './campaign-page.ts';

const shownTicks = 10;

export function addCampaignsPage({ addPage, campaignSource }: Tools): void {
  addPage({ path: '/campaigns', scope: 'read' }, async (view) => {
    const { context, session } = view;
    const counts = { ticks: shownTicks, next: 1 };
    const [campaigns, gone] = await Promise.all([
      describeCampaigns(context, campaignSource, { accounts: session.accounts, ...counts }),
      session.accounts === null ? listSchedulesWithoutFile(context, campaignSource) : [],
    ]);
    const names = campaigns.flatMap(({ campaign }) => (campaign ? [campaign.campaign] : []));
    const found = await listLastRuns(context.ledger.pool, names, session.accounts);
    const lastRuns = new Map(found.map((run) => [run.campaign, run]));
    const { folder } = campaignSource;
    return {
      title: 'Campaigns',
      body:
        campaigns.length === 0
          ? emptyText(view, folder)
          : html`${gonePart(gone)}${faultyPart(campaigns)}
${withoutRunPart(campaigns, view)}
${campaignTable(campaigns, lastRuns, view)}`,
    };
  });
}

function emptyText({ session }: View, folder: string): Html {
  if (session.accounts !== null)
    return html`<p class="empty">There is no campaign of ${session.accounts.join(' or ')} in the folder <code>${folder}</code>.</p>`;
  return html`<div class="empty"><p>There is no campaign in the folder <code>${folder}</code> yet.</p>
<p>Write one there, or run <code>volley init</code>, which makes a first campaign to try. It is here as soon as its file is.</p></div>`;
}

function gonePart(schedules: readonly string[]): Html | undefined {
  if (schedules.length === 0) return undefined;
  return html`<p class="banner">${count(schedules.length, 'schedule')} of the ledger ${schedules.length === 1 ? 'has' : 'have'} no file in this folder: ${schedules.join(', ')}. <code>volley schedule sync</code> removes what is gone.</p>`;
}

function faultyPart(campaigns: readonly DescribedCampaign[]): Html | undefined {
  const faulty = campaigns.filter(({ problems }) => problems.length > 0);
  if (faulty.length === 0) return undefined;
  const files = faulty.map(
    ({ file, problems }) => html`<h3><a href="${campaignPath(file)}" dir="auto">${file}</a></h3>
${problemItems(problems)}
`,
  );
  return html`<section class="problems" aria-labelledby="faulty"><h2 id="faulty">Files to correct: ${faulty.length}</h2>
${files}
<p>No run of them can start. Correct the named lines; this page then shows the campaign.</p></section>`;
}

/** Ticks that were due and made no run, since the last that made one. */
function withoutRunPart(campaigns: readonly DescribedCampaign[], view: View): Html | undefined {
  const late = campaigns.flatMap(({ file, ticks }) => {
    const [last, ...earlier] = sinceLastRun(ticks).filter(
      ({ state }) => state === 'missed' || state === 'failed' || state === 'skipped',
    );
    return last === undefined ? [] : [{ file, last, earlier: earlier.length }];
  });
  if (late.length === 0) return undefined;
  const items = late.map(
    ({ file, last, earlier }) =>
      html`<li><a href="${campaignPath(file)}" dir="auto">${file}</a>, due ${time(last.dueAt, view.zone)} (${view.zone}): ${tickCell(last, 'without-run')}${earlier > 0 && html` <a href="${campaignPath(file)}">${earlierText(earlier)}</a>`}${view.mayRun && html` <a class="button" href="${campaignPath(file, 'start')}" aria-label="Start now: ${file}">Start now</a>`}</li>
`,
  );
  return html`<section aria-labelledby="without-run"><h2 id="without-run">Due without a run</h2>
<p>Since the last run of their schedule. “Start now” makes up for one.</p>
<ul class="waits">${items}</ul></section>`;
}

function earlierText(earlier: number): string {
  return `and ${earlier + 1 === shownTicks ? 'at least ' : ''}${earlier} before it`;
}

function campaignTable(
  campaigns: readonly DescribedCampaign[],
  lastRuns: ReadonlyMap<string, RunWithOutcome>,
  view: View,
): Html {
  const columns: Columns<DescribedCampaign> = [
    textColumn('file', 'File', ({ file }) => file, {
      target: ({ file }) => ({ kind: 'page', path: campaignPath(file) }),
    }),
    textColumn('campaign', 'Campaign', ({ campaign }) => campaign?.campaign ?? null, {
      target: ({ campaign }) => campaign && { kind: 'runs of campaign', campaign: campaign.campaign },
    }),
    textColumn('account', 'Account', ({ campaign }) => campaign?.account ?? null),
    textColumn('channel', 'Channel', ({ campaign }) => campaign?.channel ?? null),
    textColumn('schedule', 'Schedule', ({ schedule }) => (schedule ? scheduleWords(schedule.times) : 'none')),
    timeColumn('next', 'Next', () => null, { cell: ({ schedule }) => nextCell(schedule, view) }),
    cellColumn('Last due times', ({ ticks }) => tickMarks(ticks, view)),
    cellColumn('Last run', ({ campaign }) => campaign && lastRunCell(lastRuns.get(campaign.campaign), view)),
  ];
  const start = cellColumn<DescribedCampaign>('Start', ({ file, problems }) =>
    problems.length > 0
      ? badge('problem')
      : html`<a class="button" href="${campaignPath(file, 'start')}" aria-label="Start now: ${file}">Start now</a>`,
  );
  return listTable(
    {
      caption: 'Campaigns of the folder',
      columns: view.mayRun ? [...columns, start] : columns,
      rows: campaigns,
      id: 'campaigns',
    },
    view,
  );
}

function nextCell(schedule: DescribedCampaign['schedule'], view: View): Html | string {
  if (schedule === undefined) return '';
  const [next] = schedule.next;
  if (next === undefined) return 'never again';
  const unkept = notRecordedText(schedule, view.now);
  return html`${nextTime(next, schedule, view)}${unkept !== undefined && html`<br>${badge('warning')} <small>${unkept}</small>`}`;
}

function lastRunCell(last: RunWithOutcome | undefined, { zone }: View): Html | string {
  if (!last) return 'never';
  return html`${badge(runStateWords(last.state, last.outcome.unknown))} <a href="${runPath(last.run)}">${last.run}</a><br><small>${time(last.createdAt, zone)}</small>`;
}

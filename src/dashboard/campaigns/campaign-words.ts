import { formatReason } from '../../domain/reasons.ts';
import type { CampaignSchedule } from '../../engine/schedule/describe-campaigns.ts';
import type { ListedTick, TickResult } from '../../ledger/schedules/schedules.ts';
import { pickColumns } from '../../report/column.ts';
import { badge, longText, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { tickColumns } from '../../report/lists/schedules.ts';
import { formatLocal } from '../../report/time.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { runPath } from '../paths.ts';

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

/** What came of the due times of a schedule. */
export function ticksTable(ticks: readonly ListedTick[], viewer: Viewer): Html {
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

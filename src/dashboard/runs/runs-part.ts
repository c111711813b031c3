import type { z } from 'zod';
import type { Check } from '../../domain/doctor.ts';
import { hasEnded } from '../../domain/runs.ts';
import type { LiveRunList, RunLine } from '../../engine/live/run-list.ts';
import { createAmountFormat } from '../../platform/money.ts';
import { count } from '../../platform/sentence.ts';
import { columnsOf, pickColumns } from '../../report/column.ts';
import { badge, shortened } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { costOf, runColumns, runFigureColumns } from '../../report/lists/runs.ts';
import { runQuestion } from '../../report/questions.ts';
import { formatSeconds } from '../../report/time.ts';
import { shortWait } from '../../report/wait-words.ts';
import type { Fields } from '../base/fields.ts';
import type { Viewer } from '../base/view.ts';
import { filterForm, firstPage, isAsked } from '../parts/filter.ts';
import { listTable, pager } from '../parts/list.ts';
import { progressBar } from '../parts/parts.ts';
import { pathWith, runPath } from '../paths.ts';
import { summaryPart } from './summary-part.ts';
import { waitingPart } from './waiting-part.ts';

/** The form above the list of runs. */
export const runFilter = { ...runQuestion, path: '/', title: 'Find runs', cursor: 'before' } as const;

type Asked = z.output<typeof runQuestion.schema>;

/** What stands on the start page. */
export type StartPage = {
  readonly asked: Asked;
  /** As the person wrote it. */
  readonly query: Fields;
  /** That can be asked for. */
  readonly accounts: readonly string[];
  readonly list: LiveRunList;
  /** Undefined while they are made. */
  readonly checks: readonly Check[] | undefined;
};

/** What runs, what waits, what was last night, and the runs that the person asks for. */
export function startPart({ asked, query, accounts, list, checks }: StartPage, viewer: Viewer): Html {
  const { runs, hasMore, groups } = list;
  const last = runs.at(-1)?.head.run;
  const older = hasMore && last !== undefined && pathWith('/', { ...asked, before: last });
  return html`${groups && summaryPart(groups, viewer)}
${waitingPart(list, checks, viewer)}
<div id="find" hx-morph-skip>${filterForm(runFilter, query, { account: accounts })}</div>
${asked.campaign !== undefined && html`<p>Only runs of the campaign <bdi>${asked.campaign}</bdi>.</p>`}
${runs.length === 0 ? nothing(asked, viewer) : runTable(asked, runs, viewer)}
${pager({
  first: firstPage(runFilter, asked, 'Newest runs'),
  next: older === false ? undefined : { href: older, text: 'Older runs' },
})}`;
}

function nothing(asked: Asked, { mayRun }: Viewer): Html {
  if (isAsked(runFilter, asked))
    return html`<p class="empty">No run is like that. <a href="/">Show all</a></p>`;
  if (asked.before !== undefined) return html`<p class="empty">There is no older run.</p>`;
  return html`<p class="empty">There is no run yet. ${mayRun ? html`Start one from <a href="/campaigns">a campaign</a>` : html`Look at <a href="/campaigns">the campaigns</a>, and start one with a token of scope run`}.</p>`;
}

type RunRow = RunLine['head'] & Omit<RunLine, 'head'>;

function runTable(asked: Asked, runs: readonly RunLine[], viewer: Viewer): Html {
  const rows = runs.map(({ head, ...line }): RunRow => ({ ...head, ...line }));
  const format = createAmountFormat(rows.flatMap((row) => costOf(row) ?? []));
  const columns = pickColumns(
    columnsOf<RunRow>()([...runColumns, ...runFigureColumns]),
    { key: 'run', cell: nameCell },
    // Why a run is paused stands above the list.
    { key: 'state', note: ({ waits }) => shortWait(waits) },
    { key: 'sent', cell: sentCell },
    'deliveredShare',
    'notAccepted',
    'inDoubt',
    {
      key: 'cost',
      shown: (row) => {
        const cost = costOf(row);
        return cost === null ? '–' : `${groupThousands(format(cost))} ${row.figures.currency}`;
      },
    },
    { key: 'account', only: undefined, note: ({ channel }) => channel },
    {
      key: 'createdAt',
      note: ({ figures: { plannedBy } }) => (plannedBy === null ? null : `by ${shortened(plannedBy, 60)}`),
    },
  );
  const caption = isAsked(runFilter, asked)
    ? 'Runs that were found, the newest first'
    : 'Runs, the newest first';
  return listTable({ caption, columns, rows, id: 'runs' }, viewer);
}

function nameCell({ run, campaign, kind }: RunRow): Html {
  return html`<a href="${runPath(run)}"><bdi>${shortened(campaign, 100)}</bdi> <small><bdi>${run}</bdi></small></a>${kind === 'test' && html` ${badge('test')}`}`;
}

function sentCell({ run, progress, perSecond, secondsLeft }: RunRow): Html {
  const { settled, total } = progress;
  if (total === 0) return html`<small>no request</small>`;
  const speed =
    perSecond && progress.state === 'running'
      ? `, ${groupThousands(Math.round(perSecond.requests))} a second`
      : '';
  const left = secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} left`;
  return html`${!hasEnded(progress.state) && progressBar(`Sent of run ${run}`, settled, total)}<small>${groupThousands(settled)} of ${count(total, 'request')}${speed}${left}</small>`;
}

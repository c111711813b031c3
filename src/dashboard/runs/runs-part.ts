import type { z } from 'zod';
import { hasEnded } from '../../domain/runs.ts';
import { needsPerson, type RunWait } from '../../domain/waits.ts';
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
import { shortWait, waitWords } from '../../report/wait-words.ts';
import type { PageLink } from '../base/layout.ts';
import type { Viewer } from '../base/view.ts';
import { firstPage, isAsked } from '../parts/filter.ts';
import { listTable, pager } from '../parts/list.ts';
import { progressBar, unappliedBanner, withCode } from '../parts/parts.ts';
import { pathWith, runActionLink, runPath } from '../paths.ts';

/** The form above the list of runs. */
export const runFilter = { ...runQuestion, path: '/', title: 'Find runs', cursor: 'before' } as const;

type Asked = z.output<typeof runQuestion.schema>;

/** The runs that a person asks for, as they are now. */
export function runsPart(
  { asked, list }: { readonly asked: Asked; readonly list: LiveRunList },
  viewer: Viewer,
): Html {
  const { runs, hasMore, onHold, unapplied } = list;
  const last = runs.at(-1)?.head.run;
  const older = hasMore && last !== undefined && pathWith('/', { ...asked, before: last });
  const hold = onHold && waitWords({ kind: 'ledger on hold', reason: onHold }, viewer.zone);
  return html`${hold && html`<p class="banner" role="alert">${withCode(`${hold.what} ${hold.next}`)}</p>`}
${unappliedBanner(unapplied, viewer)}
${waitingPart(list, viewer)}
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
  return html`<p class="empty">There is no run yet. ${mayRun ? html`Start one from <a href="/campaigns">a campaign</a>` : html`Look at <a href="/campaigns">the campaigns</a>, and start one with a token of scope run`}, or with <code>volley run campaigns/first.yaml</code>.</p>`;
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

/** Runs that need a person: what for, and links to what the person may do. */
function waitingPart({ waiting, moreWaiting }: LiveRunList, viewer: Viewer): Html {
  const title = html`<p role="status" class="waiting-count"${waiting.length > 0 && html` data-waiting`}>${waitingText(waiting.length + moreWaiting)}</p>`;
  if (waiting.length === 0) return title;
  return html`${title}<section aria-labelledby="waiting-title" id="waiting">
<h2 id="waiting-title" class="hidden">Waiting for a person</h2>
<ul class="waits">${waiting.map((line) => waitingItem(line, viewer))}</ul>
${
  moreWaiting > 0 &&
  html`<p>${count(moreWaiting, 'more run')} that waited longer: all that are <a href="/?state=paused">paused</a>, <a href="/?state=planned">planned</a>.</p>`
}
</section>`;
}

function waitingText(runs: number): string {
  if (runs === 0) return 'No run waits for a person.';
  return runs === 1 ? '1 run waits for a person.' : `${count(runs, 'run')} wait for a person.`;
}

function waitingItem({ head, waits }: RunLine, viewer: Viewer): Html {
  const { run, campaign, state } = head;
  // The page says above that the ledger is on hold.
  const needs = waits.filter((wait) => needsPerson(wait) && wait.kind !== 'ledger on hold');
  const words = needs.map((wait) => {
    const { what, next } = waitWords(wait, viewer.zone);
    return html`<p><strong dir="auto">${withCode(shortened(what))}</strong> ${withCode(next)}</p>`;
  });
  const links = needs
    .flatMap((wait) => linksFor(wait, run, viewer))
    .map(
      ({ href, text }) =>
        html`<li><a class="button" href="${href}" aria-describedby="waiting-${run}-name">${text}</a></li>`,
    );
  return html`<li id="waiting-${run}"><a id="waiting-${run}-name" href="${runPath(run)}"><bdi>${shortened(campaign, 100)}</bdi> (${run})</a> ${badge(state)}
${words}
${links.length > 0 && html`<ul class="links">${links}</ul>`}</li>
`;
}

/** What the person may do about the wait. */
function linksFor({ kind }: RunWait, run: string, viewer: Viewer): PageLink[] {
  return offeredLinks(kind, run, viewer).filter((link) => link !== false);
}

function offeredLinks(
  kind: RunWait['kind'],
  run: string,
  { mayRun, mayApprove, mayAdmin }: Viewer,
): (PageLink | false)[] {
  const cancel = mayRun && runActionLink(run, 'cancel');
  switch (kind) {
    case 'approval':
      return [
        { href: runPath(run, 'plan'), text: 'Look at the plan' },
        mayApprove && runActionLink(run, 'approve'),
        cancel,
      ];
    case 'resume':
      return [mayRun && runActionLink(run, 'resume'), cancel];
    case 'doubts':
      return [{ href: runPath(run, 'doubts'), text: mayAdmin ? 'Resolve doubts' : 'Look at the doubts' }];
    // No page ends these.
    case 'ledger on hold':
    case 'start':
    case 'service':
    case 'window':
    case 'urgent run':
    case 'worker':
    case 'rate':
      return [];
  }
}

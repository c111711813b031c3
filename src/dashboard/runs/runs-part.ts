import { hasEnded } from '../../domain/runs.ts';
import type { LiveRunList, RunLine } from '../../engine/live/run-list.ts';
import { createAmountFormat } from '../../platform/money.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { asSentence } from '../../platform/sentence.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { shortWait } from '../../report/wait-words.ts';
import type { Viewer } from '../base/view.ts';
import { badge, counted, number, shortened, type TableColumn, table, time } from '../parts/parts.ts';
import { unappliedBanner } from '../parts/unapplied-banner.ts';
import { runPath } from '../paths.ts';
import { duration } from '../run/stages-part.ts';
import { addressOf, isFiltered, type RunQuestion } from './filter.ts';
import { waitingPart } from './waiting-part.ts';

export type ShownRuns = { readonly question: RunQuestion; readonly list: LiveRunList };

export function runsPart({ question, list }: ShownRuns, viewer: Viewer): Html {
  const { runs, hasMore, held, unapplied } = list;
  const last = runs.at(-1)?.head;
  return html`${held && html`<p class="banner" role="alert">${asSentence(`The ledger is on hold: ${formatReason(held)}`)} Nothing is sent until an administrator runs <code>volley db restored</code>.</p>`}
${unappliedBanner(unapplied, viewer)}
${waitingPart(list, viewer)}
${runs.length === 0 ? nothing(question, viewer) : runTable(question, runs, viewer)}
${
  (hasMore || question.before !== '') &&
  html`<nav class="pager" aria-label="Pages">
${question.before !== '' && html`<a href="${addressOf('/', question, { before: '' })}">Newest runs</a>`}
${hasMore && last && html`<a rel="next" href="${addressOf('/', question, { before: `${last.createdAt.toISOString()} ${last.run}` })}">Older runs</a>`}
</nav>`
}`;
}

function nothing(question: RunQuestion, { mayRun }: Viewer): Html {
  if (isFiltered(question)) return html`<p class="empty">No run is like that. <a href="/">Show all</a></p>`;
  if (question.before !== '') return html`<p class="empty">There is no older run.</p>`;
  return html`<p class="empty">There is no run yet. ${mayRun ? html`Start one from <a href="/campaigns">a campaign</a>` : html`Look at <a href="/campaigns">the campaigns</a>, and start one with a token of scope run`}, or with <code>volley run campaigns/first.yaml</code>.</p>`;
}

function runTable(question: RunQuestion, runs: readonly RunLine[], { zone }: Viewer): Html {
  const amounts = runs.flatMap(({ figures: { cost } }) => (cost ? [cost.price, cost.estimated] : []));
  const format = createAmountFormat(amounts);
  const amount = (line: RunLine, exact: string): string =>
    line.figures.currency ? `${groupThousands(format(exact))} ${line.figures.currency}` : '–';
  const columns: readonly TableColumn<RunLine>[] = [
    { title: 'Run', cell: nameCell },
    { title: 'State', cell: stateCell },
    { title: 'Sent', cell: progressCell },
    { title: 'Not accepted', isNumber: true, cell: notAccepted },
    {
      title: 'In doubt',
      isNumber: true,
      cell: ({ progress }) => number(progress.counts.requests.in_doubt),
    },
    {
      title: 'Cost so far',
      isNumber: true,
      cell: (line) => (line.figures.cost ? amount(line, shownCost(line.figures.cost)) : '–'),
    },
    { title: 'Account', cell: ({ head }) => html`${head.account}<br><small>${head.channel}</small>` },
    {
      title: `Planned (${zone})`,
      cell: ({ head, figures }) =>
        html`${time(head.createdAt, zone)}${figures.plannedBy !== null && html`<br><small>by <bdi>${shortened(figures.plannedBy, 60)}</bdi></small>`}`,
    },
  ];
  const caption = isFiltered(question) ? 'Runs that were found, the newest first' : 'Runs, the newest first';
  return table(caption, columns, runs, 'runs');
}

function nameCell({ head }: RunLine): Html {
  return html`<a href="${runPath(head.run)}"><bdi>${shortened(head.campaign, 100)}</bdi> <small><bdi>${head.run}</bdi></small></a>${head.kind === 'test' && html` ${badge('test')}`}`;
}

/** What delivery reports say, or the estimate until they come. */
function shownCost({ price, estimated }: NonNullable<RunLine['figures']['cost']>): string {
  return /^0(\.0*)?$/.test(price) ? estimated : price;
}

function notAccepted({ progress: { notAccepted, counts } }: RunLine): string {
  return number(notAccepted - counts.requests.in_doubt);
}

function stateCell({ head, waits }: RunLine): Html {
  const words = shortWait(waits);
  return html`${badge(head.state)}${words !== undefined && html` <small>${words}</small>`}`;
}

function progressCell({ head, progress, rate, secondsLeft }: RunLine): Html {
  const { settled, total } = progress;
  if (total === 0) return html`<small>no request</small>`;
  const speed = rate && progress.state === 'running' ? `, ${number(Math.round(rate.requests))} a second` : '';
  const left = secondsLeft === null ? '' : `, ${duration(secondsLeft)} left`;
  const bar = html`<progress max="${Math.max(1, total)}" value="${Math.min(settled, Math.max(1, total))}" aria-label="Sent of run ${head.run}"></progress>`;
  return html`${!hasEnded(progress.state) && bar}<small>${number(settled)} of ${counted(total, 'request')}${speed}${left}</small>`;
}

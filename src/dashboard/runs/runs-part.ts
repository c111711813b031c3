import { formatReason } from '../../domain/reasons.ts';
import { hasEnded } from '../../domain/runs.ts';
import type { LiveRunList, RunLine } from '../../engine/live/run-list.ts';
import { createAmountFormat } from '../../platform/money.ts';
import { asSentence, count } from '../../platform/sentence.ts';
import {
  type Columns,
  cellColumn,
  integerColumn,
  stateColumn,
  textColumn,
  timeColumn,
} from '../../report/column.ts';
import { badge, shortened } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { shortWait } from '../../report/wait-words.ts';
import type { Viewer } from '../base/view.ts';
import { type Asked, firstPage, isAsked } from '../parts/filter.ts';
import { listTable, pager } from '../parts/list.ts';
import { number } from '../parts/parts.ts';
import { unappliedBanner } from '../parts/unapplied-banner.ts';
import { pathWith, runPath } from '../paths.ts';
import { duration } from '../run/stages-part.ts';
import { runFilter } from './run-filter.ts';
import { waitingPart } from './waiting-part.ts';

export type ShownRuns = { readonly asked: Asked; readonly list: LiveRunList };

export function runsPart({ asked, list }: ShownRuns, viewer: Viewer): Html {
  const { runs, hasMore, held, unapplied } = list;
  const last = runs.at(-1)?.head;
  const older = last && { before: `${last.createdAt.toISOString()} ${last.run}` };
  return html`${held && html`<p class="banner" role="alert">${asSentence(`The ledger is on hold: ${formatReason(held)}`)} Nothing is sent until an administrator runs <code>volley db restored</code>.</p>`}
${unappliedBanner(unapplied, viewer)}
${waitingPart(list, viewer)}
${runs.length === 0 ? nothing(asked, viewer) : runTable(asked, runs, viewer)}
${pager({
  first: firstPage(runFilter, asked, 'Newest runs'),
  next: hasMore && older ? { href: pathWith('/', { ...asked, ...older }), text: 'Older runs' } : undefined,
})}`;
}

function nothing(asked: Asked, { mayRun }: Viewer): Html {
  if (isAsked(runFilter, asked))
    return html`<p class="empty">No run is like that. <a href="/">Show all</a></p>`;
  if (asked['before'] !== undefined) return html`<p class="empty">There is no older run.</p>`;
  return html`<p class="empty">There is no run yet. ${mayRun ? html`Start one from <a href="/campaigns">a campaign</a>` : html`Look at <a href="/campaigns">the campaigns</a>, and start one with a token of scope run`}, or with <code>volley run campaigns/first.yaml</code>.</p>`;
}

function runTable(asked: Asked, runs: readonly RunLine[], viewer: Viewer): Html {
  const amounts = runs.flatMap(({ figures: { cost } }) => (cost ? [cost.price, cost.estimated] : []));
  const format = createAmountFormat(amounts);
  const costOf = ({ figures: { cost, currency } }: RunLine): string =>
    cost && currency ? `${groupThousands(format(shownCost(cost)))} ${currency}` : '–';
  const columns: Columns<RunLine> = [
    textColumn('run', 'Run', ({ head }) => head.run, { cell: nameCell }),
    stateColumn('state', 'State', ({ head }) => head.state, {
      note: ({ waits }) => shortWait(waits) ?? null,
    }),
    cellColumn('Sent', progressCell),
    integerColumn(
      'notAccepted',
      'Not accepted',
      ({ progress: { notAccepted, counts } }) => notAccepted - counts.requests.in_doubt,
    ),
    integerColumn('inDoubt', 'In doubt', ({ progress }) => progress.counts.requests.in_doubt),
    integerColumn('cost', 'Cost so far', costOf),
    textColumn('account', 'Account', ({ head }) => head.account, { note: ({ head }) => head.channel }),
    timeColumn('createdAt', 'Planned', ({ head }) => head.createdAt, {
      note: ({ figures: { plannedBy } }) => (plannedBy === null ? null : `by ${shortened(plannedBy, 60)}`),
    }),
  ];
  const caption = isAsked(runFilter, asked)
    ? 'Runs that were found, the newest first'
    : 'Runs, the newest first';
  return listTable({ caption, columns, rows: runs, id: 'runs' }, viewer);
}

function nameCell({ head }: RunLine): Html {
  return html`<a href="${runPath(head.run)}"><bdi>${shortened(head.campaign, 100)}</bdi> <small><bdi>${head.run}</bdi></small></a>${head.kind === 'test' && html` ${badge('test')}`}`;
}

/** What delivery reports say, or the estimate until they come. */
function shownCost({ price, estimated }: NonNullable<RunLine['figures']['cost']>): string {
  return /^0(\.0*)?$/.test(price) ? estimated : price;
}

function progressCell({ head, progress, rate, secondsLeft }: RunLine): Html {
  const { settled, total } = progress;
  if (total === 0) return html`<small>no request</small>`;
  const speed = rate && progress.state === 'running' ? `, ${number(Math.round(rate.requests))} a second` : '';
  const left = secondsLeft === null ? '' : `, ${duration(secondsLeft)} left`;
  const bar = html`<progress max="${Math.max(1, total)}" value="${Math.min(settled, Math.max(1, total))}" aria-label="Sent of run ${head.run}"></progress>`;
  return html`${!hasEnded(progress.state) && bar}<small>${number(settled)} of ${count(total, 'request')}${speed}${left}</small>`;
}

import type { z } from 'zod';
import type { Check } from '../../domain/doctor.ts';
import { hasEnded } from '../../domain/runs.ts';
import { listAccountLimits } from '../../engine/dispatch/account-limits.ts';
import {
  createLiveRunLists,
  type GroupedRun,
  type LiveRunList,
  maxGrouped,
  type RunGroups,
  type RunLine,
} from '../../engine/live/run-list.ts';
import { addAmounts, createAmountFormat } from '../../platform/money.ts';
import { count } from '../../platform/sentence.ts';
import { columnsOf, pickColumns } from '../../report/column.ts';
import { badge, shortened } from '../../report/html/cells.ts';
import { groupThousands, share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { costOf, runColumns, runFigureColumns } from '../../report/lists/runs.ts';
import { runQuestion, toRunFilter } from '../../report/questions.ts';
import { formatLocal, formatSeconds } from '../../report/time.ts';
import { shortWait } from '../../report/wait-words.ts';
import { findVisibleRun } from '../../server/api/call.ts';
import type { Fields } from '../base/fields.ts';
import type { Tools } from '../base/tools.ts';
import type { View, Viewer } from '../base/view.ts';
import { filterForm, firstPage, isAsked, readAsked } from '../parts/filter.ts';
import { listTable, pager } from '../parts/list.ts';
import { figures, progressBar } from '../parts/parts.ts';
import { pathWith, runPath } from '../paths.ts';
import { waitingPart } from './waiting-part.ts';

/** The start page: what runs, what waits for a person, the last night, then all runs, the newest first. */
export function addRunsPage({ server, addLivePage, context, campaignSource, healthChecks }: Tools): void {
  const readList = createLiveRunLists(context);
  const accountNames = async ({ session: { accounts } }: View): Promise<readonly string[]> =>
    accounts ??
    // Without the accounts file, a person can still write a name.
    (await listAccountLimits(context, campaignSource.settings).catch(() => [])).map(({ account }) => account);
  server.get('/runs', async (_, reply) => reply.redirect('/'));
  addLivePage({
    path: '/',
    scope: 'read',
    stream: '/runs/live',
    open: async (view, { query }) => {
      const { context: own, session, zone } = view;
      const { asked } = readAsked(runFilter, query);
      const { accounts } = session;
      const { before: last } = asked;
      const before =
        last === undefined ? undefined : await findVisibleRun({ context: own, token: session }, last);
      const filter = { ...toRunFilter(asked, zone), before, accounts };
      const offered = await accountNames(view);
      const isWhole = !isAsked(runFilter, asked) && before === undefined;
      return {
        key: JSON.stringify(['runs', accounts, zone, query, offered]),
        read: async () => {
          const list = await readList(filter, isWhole ? zone : undefined);
          const checks = accounts === null ? healthChecks.latest()?.checks : [];
          return { asked, query, accounts: offered, list, checks };
        },
      };
    },
    render: startPart,
    around: () => ({ title: 'Runs' }),
  });
}

const runFilter = { ...runQuestion, path: '/', title: 'Find runs', cursor: 'before' } as const;

type Asked = z.output<typeof runQuestion.schema>;

type StartPage = {
  readonly asked: Asked;
  readonly query: Fields;
  readonly accounts: readonly string[];
  readonly list: LiveRunList;
  /** Undefined while they are made. */
  readonly checks: readonly Check[] | undefined;
};

function startPart({ asked, query, accounts, list, checks }: StartPage, viewer: Viewer): Html {
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

/** What runs, what waits and what the last night brought: recipients sent to, the share delivered, and cost. */
export function summaryPart({ running, waiting, ofNight, night }: RunGroups, { zone }: Viewer): Html {
  const [from, until] = [night.from, night.until].map((at) => formatLocal(at, zone).slice(0, 16));
  const planned = { from: night.from.toISOString(), to: night.until.toISOString() };
  return html`<div class="summary">
${group({ id: 'now', title: 'Running now', href: pathWith('/', { state: 'running' }), runs: running })}
${group({ id: 'waits', title: 'Waiting', href: '#waiting', runs: waiting })}
${group({ id: 'night', title: 'Last night', href: pathWith('/', planned), runs: ofNight, note: `Planned ${from} to ${until} ${zone}` })}
</div>`;
}

type Group = {
  readonly id: string;
  readonly title: string;
  readonly href: string;
  readonly runs: readonly GroupedRun[];
  readonly note?: string;
};

function group({ id, title, href, runs, note }: Group): Html {
  const reached = runs.map(({ counts: { recipients } }) => recipients);
  const delivered = reached.reduce((sum, each) => sum + each.delivered, 0);
  const sent = reached.reduce((sum, each) => sum + each.accepted + each.undelivered, delivered);
  const number = `${runs.length >= maxGrouped ? 'at least ' : ''}${count(runs.length, 'run')}`;
  return html`<section aria-labelledby="summary-${id}"><h2 id="summary-${id}">${title}: ${runs.length === 0 ? 'no run' : html`<a href="${href}">${number}</a>`}</h2>
${figures([
  { name: 'Sent', value: groupThousands(sent) },
  { name: 'Delivered', value: share(delivered, sent) },
  { name: 'Cost', value: costs(runs) },
])}
${note !== undefined && html`<p class="hint">${note}</p>`}</section>`;
}

function costs(runs: readonly GroupedRun[]): string {
  const sums = new Map<string, string>();
  for (const { figures: ofRun } of runs) {
    const cost = costOf({ figures: ofRun });
    const { currency } = ofRun;
    if (cost !== null && currency !== null) sums.set(currency, addAmounts(sums.get(currency) ?? '0', cost));
  }
  const texts = [...sums].map(
    ([currency, sum]) => `${groupThousands(createAmountFormat([sum])(sum))} ${currency}`,
  );
  return texts.length === 0 ? '–' : texts.join(', ');
}

import type { LiveAccount } from '../../engine/live/account-list.ts';
import type { AuditEntry } from '../../ledger/audit/audit.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { pickColumns } from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { limitColumns, limitLines } from '../../report/lists/limits.ts';
import { runColumns } from '../../report/lists/runs.ts';
import type { Viewer } from '../base/view.ts';
import { problemItems } from '../campaigns/campaign-words.ts';
import { listTable } from '../parts/list.ts';
import { figures, number } from '../parts/parts.ts';
import { accountPath, pathWith } from '../paths.ts';
import { refusalBanner, runsText, stateOf, usedCell } from './accounts-part.ts';

export type AccountDetails = {
  readonly account: LiveAccount;
  /** The latest. */
  readonly runs: readonly ListedRun[];
};

/** An account: what it may do, what it does, and what stops it. */
export function accountPart({ account: one, runs }: AccountDetails, viewer: Viewer): Html {
  const { facts } = one;
  return html`${refusalBanner(one, viewer)}
${
  facts?.kind === 'unusable' &&
  html`<section class="problems" aria-labelledby="account-problems"><h2 id="account-problems">This process cannot send through it</h2>
${problemItems(facts.problems)}</section>`
}
${nowPart(one, viewer)}
${one.limits && limitsPart(one.account, one.limits, viewer)}
${runsPart(one.account, runs, viewer)}`;
}

function nowPart(one: LiveAccount, { zone }: Viewer): Html {
  const { facts, work } = one;
  const usable = facts?.kind === 'usable' ? facts : undefined;
  const lookUp = usable && (usable.statusLookUp ? 'on, one a second' : 'off');
  return html`<section aria-labelledby="now"><h2 id="now">Now</h2>
${figures([
  { name: 'State', value: badge(stateOf(one)), note: work && runsText(work) },
  { name: 'Service', value: usable?.host ?? '–', note: usable?.interface },
  { name: 'Requests a second', value: usedCell(one) },
  {
    name: 'Requests in work',
    value: number(work?.claimed ?? 0),
    note: html`claimed, without an outcome yet${usable && html`; at most ${usable.concurrency} in flight`}`,
  },
  {
    name: 'Last status look-up',
    value: work?.lookedUpAt ? time(work.lookedUpAt, zone) : 'none yet',
    note: lookUp,
  },
])}</section>`;
}

function limitsPart(account: string, limits: NonNullable<LiveAccount['limits']>, viewer: Viewer): Html {
  return html`<section aria-labelledby="limits"><h2 id="limits">Limits</h2>
${viewer.mayAdmin && html`<p><a class="button" href="${accountPath(account, 'limits')}">Change limits</a></p>`}
${listTable(
  {
    caption: 'Of all workers together',
    columns: pickColumns(limitColumns, 'limit', 'file', 'set', 'inForce'),
    rows: limitLines({ ...limits, account }),
    id: 'limits-table',
  },
  viewer,
)}</section>`;
}

/** Newest first. */
export function changesPart(changes: readonly AuditEntry[], viewer: Viewer): Html {
  if (changes.length === 0) return html``;
  return html`<section aria-labelledby="changes"><h2 id="changes">Changes of its limits</h2>
${listTable(
  {
    caption: 'The newest first',
    columns: pickColumns(auditColumns, 'at', 'who', 'outcome', 'details'),
    rows: changes,
    id: 'changes-table',
    rowId: ({ entry }) => entry,
  },
  viewer,
)}</section>`;
}

function runsPart(account: string, runs: readonly ListedRun[], viewer: Viewer): Html {
  if (runs.length === 0)
    return html`<section aria-labelledby="runs-title"><h2 id="runs-title">Runs</h2><p>None yet.</p></section>`;
  return html`<section aria-labelledby="runs-title"><h2 id="runs-title">Runs</h2>
<p><a href="${pathWith('/', { account })}">All its runs</a></p>
${listTable(
  {
    caption: 'Its latest runs',
    columns: pickColumns(runColumns, 'run', 'campaign', 'state', 'createdAt'),
    rows: runs,
    id: 'runs',
  },
  viewer,
)}</section>`;
}

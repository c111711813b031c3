import type { RateLimits } from '../../domain/rates.ts';
import type { LiveAccount } from '../../engine/live/account-list.ts';
import type { AuditEntry } from '../../ledger/audit/audit.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { formatDetails } from '../../report/audit-sheet.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { problemItems } from '../campaigns/campaign-words.ts';
import { longText } from '../parts/long-text.ts';
import { badge, figures, number, table, time } from '../parts/parts.ts';
import { accountPath, runPath } from '../paths.ts';
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

const names = {
  requestsPerSecond: 'Requests a second',
  recipientsPerSecond: 'Recipients a second',
} as const satisfies Record<keyof RateLimits, string>;

function limitsPart(
  account: string,
  { file, set, inForce }: NonNullable<LiveAccount['limits']>,
  { mayAdmin }: Viewer,
): Html {
  const limit = (value: number | null, otherwise: string): string =>
    value === null ? otherwise : number(value);
  return html`<section aria-labelledby="limits"><h2 id="limits">Limits</h2>
${mayAdmin && html`<p><a class="button" href="${accountPath(account, 'limits')}">Change limits</a></p>`}
${table<keyof RateLimits>(
  'Of all workers together',
  [
    { title: 'Limit', cell: (name) => names[name] },
    { title: 'In the accounts file', isNumber: true, cell: (name) => limit(file[name], 'none') },
    { title: 'Set instead', isNumber: true, cell: (name) => limit(set[name], '–') },
    { title: 'In force', isNumber: true, cell: (name) => limit(inForce[name], 'none') },
  ],
  ['requestsPerSecond', 'recipientsPerSecond'],
  'limits-table',
)}</section>`;
}

/** Newest first. */
export function changesPart(changes: readonly AuditEntry[], { zone }: Viewer): Html {
  if (changes.length === 0) return html``;
  return html`<section aria-labelledby="changes"><h2 id="changes">Changes of its limits</h2>
${table<AuditEntry>(
  'The newest first',
  [
    { title: `At (${zone})`, cell: ({ at }) => time(at, zone) },
    { title: 'By', cell: ({ who }) => who },
    { title: 'Outcome', cell: ({ outcome }) => badge(outcome) },
    {
      title: 'Change',
      cell: ({ details, entry }) => longText(formatDetails(details), `change-${entry}`),
    },
  ],
  changes,
  'changes-table',
)}</section>`;
}

function runsPart(account: string, runs: readonly ListedRun[], { zone }: Viewer): Html {
  if (runs.length === 0)
    return html`<section aria-labelledby="runs-title"><h2 id="runs-title">Runs</h2><p>None yet.</p></section>`;
  return html`<section aria-labelledby="runs-title"><h2 id="runs-title">Runs</h2>
<p><a href="/?${new URLSearchParams({ account }).toString()}">All its runs</a></p>
${table<ListedRun>(
  'Its latest runs',
  [
    { title: 'Run', cell: ({ run }) => html`<a href="${runPath(run)}">${run}</a>` },
    { title: 'Campaign', cell: ({ campaign }) => campaign },
    { title: 'State', cell: ({ state }) => badge(state) },
    {
      title: 'Why',
      cell: ({ run, stateReason }) =>
        stateReason === null ? '' : longText(formatReason(stateReason), `why-${run}`),
    },
    { title: `Planned (${zone})`, cell: ({ createdAt }) => time(createdAt, zone) },
  ],
  runs,
  'runs',
)}</section>`;
}

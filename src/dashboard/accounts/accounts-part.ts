import type { RateLimits } from '../../domain/rate-limits.ts';
import type { LiveAccount, LiveAccountList } from '../../engine/live/account-list.ts';
import type { AuditEntry } from '../../ledger/audit/audit.ts';
import type { AccountWork } from '../../ledger/limits/account-work.ts';
import type { RunWithOutcome } from '../../ledger/runs/find.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, pickColumns, stateColumn } from '../../report/column.ts';
import { badge, longText, time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { capSentences, limitColumns, limitLines, limitTexts } from '../../report/lists/limits.ts';
import { runColumns } from '../../report/lists/runs.ts';
import { accountColumn } from '../../report/lists/usual.ts';
import { waitWords } from '../../report/wait-words.ts';
import { problemItems } from '../base/problems.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { nextStepPart } from '../parts/next-step.ts';
import { figures, section } from '../parts/parts.ts';
import { accountPath, pathWith } from '../paths.ts';

/** All accounts, with what they do and what stops them. */
export function accountsPart({ accounts, problems }: LiveAccountList, viewer: Viewer): Html {
  const faulty =
    problems.length > 0 &&
    html`<section class="problems" aria-labelledby="file-problems"><h2 id="file-problems">The accounts file cannot be read</h2>
${problemItems(problems)}
<p>Nothing new is sent through its accounts until it is corrected.</p></section>`;
  if (accounts.length === 0)
    return html`${faulty}<p class="empty">There is no account that you may see. They are in <code>campaigns/accounts.yaml</code>, or where <code>VOLLEY_ACCOUNTS</code> says; <code>volley schema accounts</code> describes one.</p>`;
  const columns: Columns<LiveAccount> = [
    accountColumn,
    stateColumn('state', 'State', stateOf),
    cellColumn('Service', serviceCell),
    cellColumn('Requests a second', usedCell),
    cellColumn('Limits a second', limitsCell),
    cellColumn('Requests in work', claimedCell),
    cellColumn('Runs', ({ work }) => work && runsText(work)),
  ];
  const change = cellColumn<LiveAccount>(
    'Change',
    ({ account, limits }) =>
      limits &&
      html`<a href="${accountPath(account, 'limits')}" aria-label="Change limits of ${account}">Change limits</a>`,
  );
  const shown = viewer.mayAdmin ? [...columns, change] : columns;
  return html`${faulty}${accounts.map((one) => refusalBanner(one, viewer))}
${listTable({ caption: 'Accounts', columns: shown, rows: accounts, id: 'accounts' }, viewer)}`;
}

/** Says that the breaker of the account is open. */
function refusalBanner({ account, work }: LiveAccount, viewer: Viewer): Html | undefined {
  if (!work?.refusedSince || !work.retryAt) return undefined;
  const since = html`The service has refused everything of <bdi>${account}</bdi> since ${time(work.refusedSince, viewer.zone)}`;
  const text = isRefused(work)
    ? html`${since}. ${nextStepPart(waitWords({ kind: 'service', since: work.refusedSince, retryAt: work.retryAt, words: '' }, viewer.zone).next, viewer)}`
    : html`${since}. No run of the account is running, so nothing is sent. The next one that starts or resumes sends one request first.`;
  return html`<div class="banner" role="alert"><p>${text} The service said:</p>
${longText(work.refusal ?? '', `refusal-${account}`)}</div>`;
}

function stateOf({ facts, work }: LiveAccount): string {
  if (work && isRefused(work)) return 'refused';
  if (facts?.kind === 'unusable') return 'problem';
  if (!work) return 'idle';
  if (work.running > 0) return 'running';
  return work.paused > 0 ? 'paused' : work.planned > 0 ? 'planned' : 'idle';
}

/** While no run of the account is running, no worker asks the service. */
function isRefused({ refusedSince, running }: AccountWork): boolean {
  return refusedSince !== null && running > 0;
}

function serviceCell({ facts }: LiveAccount): Html {
  if (!facts) return html`not in the accounts file of this process`;
  if (facts.kind === 'unusable') return problemItems(facts.problems);
  return html`${facts.interface} at <bdi>${facts.host}</bdi>`;
}

function usedCell({ requestsPerSecond, limits }: LiveAccount): Html | string {
  if (requestsPerSecond === undefined) return '–';
  const used = groupThousands(Math.round(requestsPerSecond));
  const most = limits?.inForce.requestsPerSecond;
  if (most === null || most === undefined) return used;
  return html`${used} of ${groupThousands(most)} <meter min="0" max="${most}" value="${Math.min(requestsPerSecond, most)}" aria-label="Share of the rate">${Math.round((requestsPerSecond / most) * 100)} %</meter>`;
}

function limitsCell({ limits }: LiveAccount): Html | undefined {
  return (
    limits &&
    html`${limitText(limits.inForce)} <small>${isSet(limits) ? 'changed here' : 'of the file'}</small>`
  );
}

function isSet({ set }: NonNullable<LiveAccount['limits']>): boolean {
  return set.requestsPerSecond !== null || set.recipientsPerSecond !== null;
}

/** The limits in a line. */
export function limitText(limits: RateLimits): string {
  return limitTexts(limits).join(', ') || 'none';
}

function claimedCell({ work, facts }: LiveAccount): Html {
  const most = facts?.kind === 'usable' && html` <small>at most ${facts.concurrency} in flight</small>`;
  return html`${groupThousands(work?.claimed ?? 0)}${most}`;
}

function runsText({ running, paused, planned }: NonNullable<LiveAccount['work']>): string {
  const parts = [
    running > 0 && `${count(running, 'run')} running`,
    paused > 0 && `${paused} paused`,
    planned > 0 && `${planned} planned`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/** The answer to a person who opens the page of an unknown account. */
export const noSuchAccount = 'There is no such account. The page of accounts lists all.';

/** An account, and what it sent last. */
export type AccountDetails = {
  readonly account: LiveAccount;
  /** The latest. */
  readonly runs: readonly RunWithOutcome[];
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
${one.limits && limitsPart(one, one.limits, viewer)}
${runsPart(one.account, runs, viewer)}`;
}

function nowPart(one: LiveAccount, { zone }: Viewer): Html {
  const { facts, work } = one;
  const usable = facts?.kind === 'usable' ? facts : undefined;
  const inFlight = usable && `; at most ${usable.concurrency} in flight`;
  const list = figures([
    { name: 'State', value: badge(stateOf(one)), note: work && runsText(work) },
    { name: 'Service', value: usable?.host ?? '–', note: usable?.interface },
    { name: 'Requests a second', value: usedCell(one) },
    {
      name: 'Requests in work',
      value: groupThousands(work?.claimed ?? 0),
      note: ['claimed, without an outcome yet', inFlight],
    },
    {
      name: 'Last status look-up',
      value: work?.lookedUpAt ? time(work.lookedUpAt, zone) : 'none yet',
      note: usable && (usable.statusLookUp ? 'on, one a second' : 'off'),
    },
  ]);
  return section('now', 'Now', list);
}

function limitsPart(
  { account, caps }: LiveAccount,
  limits: NonNullable<LiveAccount['limits']>,
  viewer: Viewer,
): Html {
  const change = html`<p><a class="button" href="${accountPath(account, 'limits')}">Change limits</a></p>`;
  const columns = pickColumns(limitColumns, 'limit', 'file', 'set', 'inForce');
  const rows = limitLines({ ...limits, account });
  const list = { caption: 'Of all workers together', columns, rows, id: 'limits-table' };
  const overCampaigns = caps && capSentences(caps).map((sentence) => html`<p>${sentence}</p>`);
  return section('limits', 'Limits', [viewer.mayAdmin && change, listTable(list, viewer), overCampaigns]);
}

/** The changes of its limits, the newest first. */
export function changesPart(changes: readonly AuditEntry[], viewer: Viewer): Html | undefined {
  if (changes.length === 0) return undefined;
  const columns = pickColumns(auditColumns, 'at', 'who', 'outcome', 'details');
  const rowId = ({ entry }: AuditEntry): string => entry;
  const list = { caption: 'The newest first', columns, rows: changes, id: 'changes-table', rowId };
  return section('changes', 'Changes of its limits', listTable(list, viewer));
}

function runsPart(account: string, runs: readonly RunWithOutcome[], viewer: Viewer): Html {
  if (runs.length === 0) return section('runs-part', 'Runs', html`<p>None yet.</p>`);
  const all = html`<p><a href="${pathWith('/', { account })}">All its runs</a></p>`;
  const columns = pickColumns(runColumns, 'run', 'campaign', 'state', 'deliveredShare', 'createdAt');
  const list = { caption: 'Its latest runs', columns, rows: runs, id: 'runs' };
  return section('runs-part', 'Runs', [all, listTable(list, viewer)]);
}

import type { RateLimits } from '../../domain/rates.ts';
import type { LiveAccount, LiveAccountList } from '../../engine/live/account-list.ts';
import type { AccountWork } from '../../ledger/limits/account-work.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, stateColumn } from '../../report/column.ts';
import { longText, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { accountColumn } from '../../report/lists/usual.ts';
import type { Viewer } from '../base/view.ts';
import { problemItems } from '../campaigns/campaign-words.ts';
import { listTable } from '../parts/list.ts';
import { number } from '../parts/parts.ts';
import { accountPath } from '../paths.ts';

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

/** While the breaker of the account is open. */
export function refusalBanner({ account, work }: LiveAccount, { zone }: Viewer): Html | undefined {
  if (!work?.refusedSince || !work.retryAt) return undefined;
  const since = html`The service has refused everything of <bdi>${account}</bdi> since ${time(work.refusedSince, zone)}`;
  const text = isRefused(work)
    ? html`${since}. The next request is sent at ${time(work.retryAt, zone)}; the runs of the account go on by themselves.`
    : html`${since}. No run of the account is running, so nothing is sent. The next one that starts or resumes sends one request first.`;
  return html`<div class="banner" role="alert"><p>${text} The service said:</p>
${longText(work.refusal ?? '', `refusal-${account}`)}</div>`;
}

export function stateOf({ facts, work }: LiveAccount): string {
  if (work && isRefused(work)) return 'refused';
  if (facts?.kind === 'unusable') return 'problem';
  if (!work) return 'idle';
  if (work.running > 0) return 'running';
  return work.paused > 0 ? 'paused' : work.planned > 0 ? 'planned' : 'idle';
}

/** While no run of the account is running, nobody asks the service. */
function isRefused({ refusedSince, running }: AccountWork): boolean {
  return refusedSince !== null && running > 0;
}

function serviceCell({ facts }: LiveAccount): Html {
  if (!facts) return html`not in the accounts file of this process`;
  if (facts.kind === 'unusable') return problemItems(facts.problems);
  return html`${facts.interface} at <bdi>${facts.host}</bdi>`;
}

export function usedCell({ requestsPerSecond, limits }: LiveAccount): Html | string {
  if (requestsPerSecond === undefined) return '–';
  const used = number(Math.round(requestsPerSecond));
  const most = limits?.inForce.requestsPerSecond;
  if (most === null || most === undefined) return used;
  return html`${used} of ${number(most)} <meter min="0" max="${most}" value="${Math.min(requestsPerSecond, most)}" aria-label="Share of the rate">${Math.round((requestsPerSecond / most) * 100)} %</meter>`;
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

export function limitText({ requestsPerSecond, recipientsPerSecond }: RateLimits): string {
  const parts = [
    requestsPerSecond === null ? undefined : `${number(requestsPerSecond)} requests`,
    recipientsPerSecond === null ? undefined : `${number(recipientsPerSecond)} recipients`,
  ].filter((part) => part !== undefined);
  return parts.join(', ') || 'none';
}

function claimedCell({ work, facts }: LiveAccount): Html {
  const most = facts?.kind === 'usable' && html` <small>at most ${facts.concurrency} in flight</small>`;
  return html`${number(work?.claimed ?? 0)}${most}`;
}

export function runsText({ running, paused, planned }: NonNullable<LiveAccount['work']>): string {
  const parts = [
    running > 0 && `${count(running, 'run')} running`,
    paused > 0 && `${paused} paused`,
    planned > 0 && `${planned} planned`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

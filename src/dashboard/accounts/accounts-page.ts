import { isForAccount } from '../../engine/access/tokens.ts';
import {
  createLiveAccounts,
  type LiveAccount,
  type LiveAccountList,
} from '../../engine/live/account-list.ts';
import { type AuditEntry, listAudit } from '../../ledger/audit/audit.ts';
import type { AccountWork } from '../../ledger/limits/account-work.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, pickColumns, stateColumn, timeColumn } from '../../report/column.ts';
import { longText, time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { capSentences, limitColumns, limitLines } from '../../report/lists/limits.ts';
import { accountColumn } from '../../report/lists/usual.ts';
import { waitWords } from '../../report/wait-words.ts';
import { problemItems } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View, type Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { nextStepPart } from '../parts/next-step.ts';
import { section } from '../parts/parts.ts';
import { accountPath, pathWith } from '../paths.ts';
import { addLimitsAction, limitText, noSuchAccount } from './limits-action.ts';

const shownChanges = 20;

/** How much of its rate each account uses, what stops it, and its limits. */
export function addAccountsPages(tools: Tools): void {
  const { addLivePage, context, campaignSource } = tools;
  addLimitsAction(tools);
  const readAll = createLiveAccounts(context, campaignSource.settings);
  const read = async (accounts: readonly string[] | null): Promise<LiveAccountList> => {
    const found = await readAll();
    return {
      accounts: found.accounts.filter(({ account }) => isForAccount({ accounts }, account)),
      // They can name other accounts.
      problems: accounts === null ? found.problems : [],
    };
  };
  addLivePage({
    path: '/accounts',
    scope: 'read',
    open: async ({ session: { accounts } }) => ({
      key: JSON.stringify(['accounts', accounts]),
      read: () => read(accounts),
    }),
    render: accountsPart,
    around: () => ({
      title: 'Accounts',
      body: html`<p>Limits are of all workers together. The page of an account has changes of its limits, and leads to its runs.</p>`,
    }),
  });

  const readOne = async (view: View, name: string): Promise<LiveAccount> => {
    const { accounts } = await read(view.session.accounts);
    return accounts.find(({ account }) => account === name) ?? notFound(noSuchAccount);
  };
  /** Changes of limits, which only persons see who see the audit trail. */
  const readChanges = async ({ mayAdmin, session }: View, name: string): Promise<readonly AuditEntry[]> => {
    if (!mayAdmin || session.accounts !== null) return [];
    return listAudit(context.ledger.pool, { action: 'limits set', subject: name }, shownChanges);
  };
  addLivePage({
    path: '/accounts/:account',
    scope: 'read',
    open: async (view, { params }) => {
      const name = params['account'] ?? '';
      if (!isForAccount(view.session, name)) notFound(noSuchAccount);
      return {
        key: JSON.stringify(['account', name, view.session.accounts]),
        read: () => readOne(view, name),
      };
    },
    render: accountPart,
    around: async ({ account }, view) => ({
      title: account,
      within: { href: '/accounts', text: 'Accounts' },
      end: changesPart(await readChanges(view, account), view),
    }),
  });
}

export function accountsPart({ accounts, problems }: LiveAccountList, viewer: Viewer): Html {
  const faulty =
    problems.length > 0 &&
    html`<section class="problems" aria-labelledby="file-problems"><h2 id="file-problems">The accounts file cannot be read</h2>
${problemItems(problems)}
<p>Nothing new is sent through its accounts until it is corrected.</p></section>`;
  if (accounts.length === 0)
    return html`${faulty}<p class="empty">There is no account that you may see. They are in <code>campaigns/accounts.yaml</code>, or where <code>VOLLEY_ACCOUNTS</code> says; <code>volley schema accounts</code> describes one.</p>`;
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

const columns: Columns<LiveAccount> = [
  accountColumn,
  stateColumn('state', 'State', stateOf),
  cellColumn('Service', serviceCell),
  cellColumn('Requests a second', usedCell),
  cellColumn('Limits a second', limitsCell),
  cellColumn('Requests in work', claimedCell),
  cellColumn('Runs', ({ work }) => work && runsText(work)),
];

const lookUpColumn = timeColumn<LiveAccount>(
  'lookedUpAt',
  'Last status look-up',
  ({ work }) => work?.lookedUpAt ?? null,
  {
    shown: ({ work }) => work?.lookedUpAt ?? 'none yet',
    note: ({ facts }) =>
      facts?.kind === 'usable' ? (facts.statusLookUp ? 'on, one a second' : 'off') : null,
  },
);

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

export function accountPart(one: LiveAccount, viewer: Viewer): Html {
  const { facts } = one;
  return html`${refusalBanner(one, viewer)}
${
  facts?.kind === 'unusable' &&
  html`<section class="problems" aria-labelledby="account-problems"><h2 id="account-problems">This process cannot send through it</h2>
${problemItems(facts.problems)}</section>`
}
${section('now', 'Now', listTable({ caption: 'What it does', columns: [...columns.slice(1), lookUpColumn], rows: [one] }, viewer))}
${one.limits && limitsPart(one, one.limits, viewer)}
<p><a href="${pathWith('/', { account: one.account })}">All its runs</a></p>`;
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

function changesPart(changes: readonly AuditEntry[], viewer: Viewer): Html | undefined {
  if (changes.length === 0) return undefined;
  const columns = pickColumns(auditColumns, 'at', 'who', 'outcome', 'details');
  const rowId = ({ entry }: AuditEntry): string => entry;
  const list = { caption: 'The newest first', columns, rows: changes, id: 'changes-table', rowId };
  return section('changes', 'Changes of its limits', listTable(list, viewer));
}

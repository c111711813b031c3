import type { FastifyInstance } from 'fastify';
import { isForAccount } from '../../engine/access/tokens.ts';
import { createLiveAccounts, type LiveAccountList } from '../../engine/live/account-list.ts';
import { type AuditEntry, listAudit } from '../../ledger/audit/audit.ts';
import { listRuns } from '../../ledger/runs/find.ts';
import { html } from '../../report/html/html.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View } from '../base/view.ts';
import {
  type AccountDetails,
  accountPart,
  accountsPart,
  changesPart,
  noSuchAccount,
} from './accounts-part.ts';

const shownRuns = 20;
const shownChanges = 20;

/** How much of its rate each account uses, and what stops it. */
export function addAccountsPages(server: FastifyInstance, { context, live, campaignSource }: Tools): void {
  const readAll = createLiveAccounts(context, campaignSource.settings);
  const read = async (accounts: readonly string[] | null): Promise<LiveAccountList> => {
    const found = await readAll();
    return {
      accounts: found.accounts.filter(({ account }) => isForAccount({ accounts }, account)),
      // They can name other accounts.
      problems: accounts === null ? found.problems : [],
    };
  };
  live.addPage(server, {
    path: '/accounts',
    scope: 'read',
    open: async ({ session: { accounts } }) => ({
      key: JSON.stringify(['accounts', accounts]),
      read: () => read(accounts),
    }),
    render: accountsPart,
    around: () => ({
      title: 'Accounts',
      body: html`<p>Limits are of all workers together. The page of an account has its runs, and changes of its limits.</p>`,
    }),
  });

  const readOne = async (view: View, name: string): Promise<AccountDetails> => {
    const { accounts } = await read(view.session.accounts);
    const account = accounts.find((one) => one.account === name);
    if (!account) return notFound(noSuchAccount);
    return { account, runs: await listRuns(context.ledger.knex, shownRuns, { account: name }) };
  };
  /** Changes of limits, which only persons see who see the audit trail. */
  const readChanges = async ({ mayAdmin, session }: View, name: string): Promise<readonly AuditEntry[]> => {
    if (!mayAdmin || session.accounts !== null) return [];
    return listAudit(context.ledger.pool, { action: 'limits set', subject: name }, shownChanges);
  };
  live.addPage(server, {
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
    around: async ({ account: { account } }, view) => ({
      title: account,
      within: { href: '/accounts', text: 'Accounts' },
      end: changesPart(await readChanges(view, account), view),
    }),
  });
}

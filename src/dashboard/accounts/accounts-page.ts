import type { FastifyInstance } from 'fastify';
import { isForAccount } from '../../engine/access/tokens.ts';
import { createLiveAccounts, type LiveAccountList } from '../../engine/live/account-list.ts';
import { type AuditEntry, listAudit } from '../../ledger/audit/audit.ts';
import { listRuns } from '../../ledger/runs/find.ts';
import { html } from '../../report/html/html.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View } from '../base/view.ts';
import { accountPath } from '../paths.ts';
import { type AccountDetails, accountPart, changesPart } from './account-part.ts';
import { accountsPart } from './accounts-part.ts';

const shownRuns = 20;
const shownChanges = 20;

/** How much of its rate each account uses, and what stops it. */
export function addAccountsPages(server: FastifyInstance, { context, live, scheduleSource }: Tools): void {
  const list = createLiveAccounts(context, scheduleSource.settings);
  const read = async (accounts: readonly string[] | null): Promise<LiveAccountList> => {
    const found = await list.read();
    return {
      accounts: found.accounts.filter(({ account }) => isForAccount({ accounts }, account)),
      // They can name other accounts.
      problems: accounts === null ? found.problems : [],
    };
  };
  addPage(server, { path: '/accounts', scope: 'read' }, async (view) => ({
    title: 'Accounts',
    body: html`<p>Limits are of all workers together. The page of an account has its runs, and changes of its limits.</p>`,
    live: { body: accountsPart(await read(view.session.accounts), view), from: '/accounts/live' },
  }));
  live.add(
    server,
    { path: '/accounts/live', scope: 'read' },
    {
      open: async ({ session: { accounts } }) => ({
        key: JSON.stringify(['accounts', accounts]),
        read: () => read(accounts),
      }),
      render: accountsPart,
    },
  );

  const readOne = async (view: View, name: string): Promise<AccountDetails> => {
    const { accounts } = await read(view.session.accounts);
    const account = accounts.find((one) => one.account === name);
    if (!account) return notFound('There is no such account. The page of accounts lists all.');
    return { account, runs: await listRuns(context.ledger.knex, shownRuns, { account: name }) };
  };
  /** For persons who see the audit trail. */
  const readChanges = async ({ mayAdmin, session }: View, name: string): Promise<readonly AuditEntry[]> => {
    if (!mayAdmin || session.accounts !== null) return [];
    return listAudit(context.ledger.pool, { action: 'limits set', subject: name }, shownChanges);
  };
  addPage(server, { path: '/accounts/:account', scope: 'read' }, async (view, { params }) => {
    const name = params['account'] ?? '';
    const details = await readOne(view, name);
    return {
      title: name,
      within: { href: '/accounts', text: 'Accounts' },
      body: html``,
      live: { body: accountPart(details, view), from: accountPath(name, 'live') },
      end: changesPart(await readChanges(view, name), view),
    };
  });
  live.add(
    server,
    { path: '/accounts/:account/live', scope: 'read' },
    {
      open: async (view, { params }) => {
        const name = params['account'] ?? '';
        await readOne(view, name);
        return {
          key: JSON.stringify(['account', name, view.session.accounts]),
          read: () => readOne(view, name),
        };
      },
      render: accountPart,
    },
  );
}

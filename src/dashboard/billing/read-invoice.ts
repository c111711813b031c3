import { openInvoiceInThread } from '../../contacts/open-invoice-in-thread.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import { type Reconciliation, reconcileInvoice } from '../../engine/billing/reconcile.ts';
import type { View } from '../base/view.ts';
import type { AskedInvoice } from './invoice-question.ts';
import type { KeptInvoice } from './kept-invoices.ts';

/** A packed file can hold far more than its size. */
const maxLines = 5_000_000;

/**
 * Compares a kept invoice with what the session may see, until the browser leaves.
 *
 * @throws InputError when the file cannot be read, or a name does not occur
 */
export async function compareKeptInvoice<Result>(
  { context, session, left }: Pick<View, 'context' | 'session' | 'left'>,
  { name, path }: KeptInvoice,
  { period, scope, reading, skipUnreadable }: AskedInvoice,
  use: (found: Reconciliation) => Promise<Result>,
): Promise<Result> {
  const { accounts, subAccounts } = scope;
  const names = { account: accounts ?? [], SubAccount: subAccounts ?? [] };
  await requireKnownNames(context, names, session.accounts);
  const open = () => openInvoiceInThread(path, { ...reading, name }, left);
  const invoice = { name, open, maxLines, skipUnreadable };
  return reconcileInvoice(
    context,
    { invoice, period, scope: { ...scope, visibleAccounts: session.accounts } },
    use,
  );
}

import { readFileBytes } from '../../contacts/file-bytes.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import { type Reconciliation, reconcileInvoice } from '../../engine/billing/reconcile.ts';
import type { View } from '../base/view.ts';
import type { AskedInvoice } from './invoice-question.ts';
import type { KeptInvoice } from './kept-invoices.ts';

/** A packed file can hold far more than its size. */
const maxLines = 5_000_000;

/**
 * Compares a kept invoice with what the session may see.
 *
 * @throws InputError when the file cannot be read, or a name does not occur
 */
export async function compareKeptInvoice<Result>(
  { context, session }: Pick<View, 'context' | 'session'>,
  { name, path }: KeptInvoice,
  { period, scope, reading }: AskedInvoice,
  use: (found: Reconciliation) => Promise<Result>,
): Promise<Result> {
  const { accounts, subAccounts } = scope;
  const names = { account: accounts ?? [], SubAccount: subAccounts ?? [] };
  await requireKnownNames(context, names, session.accounts);
  const invoice = { name, bytes: readFileBytes(path, name), maxLines, ...reading };
  return reconcileInvoice(context, invoice, period, { ...scope, visibleAccounts: session.accounts }, use);
}

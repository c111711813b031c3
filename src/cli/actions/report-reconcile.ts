import { resolve } from 'node:path';
import type { InvoiceField } from '../../contacts/invoice-file.ts';
import { openInvoice } from '../../contacts/open-invoice.ts';
import type { Channel } from '../../domain/message.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import { reconcileInvoice } from '../../engine/billing/reconcile.ts';
import { openFile } from '../../engine/plan/open-file.ts';
import type { ReconciliationPeriod, ReconciliationScope } from '../../ledger/billing/compare-invoice.ts';
import { parsePayer } from '../../report/billing-words.ts';
import { printable } from '../../report/printable.ts';
import { reconcileSheet } from '../../report/reconcile-sheet.ts';
import { requirePeriod } from '../options.ts';
import type { ReportOptions } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { sheetWriter } from '../write-report.ts';

export type ReconcileOptions = ReportOptions & {
  readonly invoice: string;
  readonly column?: Readonly<Partial<Record<InvoiceField, string>>>;
  readonly decimal: 'point' | 'comma';
  readonly country?: string;
  readonly skipUnreadable?: true;
  readonly skipLines: number;
  readonly from?: string;
  readonly to?: string;
  readonly timeZone: string;
  readonly account?: readonly string[];
  readonly subAccount?: readonly string[];
  readonly channel?: readonly Channel[];
};

export async function reconcileAction(shell: Shell, options: ReconcileOptions): Promise<void> {
  const write = sheetWriter(shell, options, 'table');
  const period = periodOf(options);
  const scope = scopeOf(options);
  const path = resolve(shell.settings.workingFolder, options.invoice);
  const { bytes, shown } = await openFile(path, options.invoice, '--invoice', 'invoice');
  const { column: columns = {}, decimal, country, skipLines, skipUnreadable = false } = options;
  const reading = { name: shown, columns, decimal, country, skipLines };
  const invoice = { name: shown, open: () => openInvoice(bytes, reading), skipUnreadable };
  const agrees = await withLedgerToRead(shell, async (context) => {
    const { accounts, subAccounts } = scope;
    await requireKnownNames(context, { account: accounts ?? [], SubAccount: subAccounts ?? [] });
    return reconcileInvoice(context, { invoice, period, scope }, async (found) => {
      for (const { where, what } of found.unreadable.problems)
        shell.note(`${printable(where)}: ${printable(what)}`);
      await write(reconcileSheet(found, period, filterTexts(options), shell.now()));
      return (
        found.unreadable.lines === 0 &&
        found.totals.every(({ kind }) => ['agrees', 'all', 'tests'].includes(kind))
      );
    });
  });
  if (!agrees) shell.exitWith(3);
}

function periodOf({ from, to, timeZone }: ReconcileOptions): ReconciliationPeriod {
  requirePeriod(from, to);
  return { from: from ?? null, until: to ?? null, timeZone };
}

function scopeOf({ account, subAccount, channel }: ReconcileOptions): ReconciliationScope {
  return {
    accounts: account ?? null,
    subAccounts: subAccount?.map(parsePayer) ?? null,
    channels: channel ?? null,
    visibleAccounts: null,
  };
}

function filterTexts({ account, subAccount, channel }: ReconcileOptions): string[] {
  const filters = { account, SubAccount: subAccount, channel };
  return Object.entries(filters).flatMap(([name, values]) =>
    values ? [`${name}: ${values.join(', ')}`] : [],
  );
}

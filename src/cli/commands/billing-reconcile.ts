import { resolve } from 'node:path';
import { type InvoiceField, invoiceFields } from '../../contacts/invoice-file.ts';
import { channels } from '../../domain/message.ts';
import { reconciliationKinds } from '../../ledger/billing/reconcile.ts';
import { noName, parsePayer } from '../../report/billing/billing-words.ts';
import { printable } from '../../report/printable.ts';
import { defineCommand, flag, option } from '../command.ts';
import { parseWholeNumber } from '../option-readers.ts';
import { countryOption, periodOf, periodOptions, reportOptions } from '../options.ts';
import { withLedger, withLedgerToRead } from '../shell.ts';
import { notInListError } from '../usage-errors.ts';

export const command = defineCommand({
  description:
    'Compares an invoice of the service with the ledger, and prints what was charged too much or too little, by finding, and the lines (docs/how-to/billing.md).',
  options: [
    option('--invoice <file>', 'CSV (also gzipped) or workbook (.xlsx), a line for each recipient', {
      required: true,
    }),
    option(
      '--column <field=name...>',
      `the column of ${invoiceFields.join(', ')}, such as MessageID="Message Ref" (default: the usual names)`,
      { read: readColumn },
    ),
    option('--decimal <sign>', 'the decimal separator', { choices: ['point', 'comma'], default: 'point' }),
    countryOption,
    option('--skip-lines <number>', 'lines before the header', { read: parseWholeNumber, default: 0 }),
    flag('--skip-unreadable', 'skip lines that cannot be read'),
    ...periodOptions('requests sent'),
    option('--account <name...>', 'only of these accounts'),
    option('--sub-account <name...>', `only of these SubAccounts, or ${noName}`),
    option('--channel <channel...>', 'only of these channels', { choices: channels }),
    option('--finding <finding>', 'only lines with this finding', { choices: reconciliationKinds }),
    flag('--keep', 'keep the sums, and the digest of the file, in the audit trail'),
    ...reportOptions('table'),
  ],
  exits: { 3: 'the invoice and the ledger differ' },
  examples: [
    ['volley billing reconcile --invoice november.csv --from 2026-11 --to 2026-12', 'check an invoice'],
  ],
  run: async (shell, _, { account, subAccount, channel, ...options }) => {
    const { openInvoice } = await import('../../contacts/open-invoice.ts');
    const { keepInvoice } = await import('../../engine/billing/reconcile.ts');
    const { requireKnownNames } = await import('../../engine/billing/known-names.ts');
    const { reconcileInvoice } = await import('../../engine/billing/reconcile.ts');
    const { digestOfFile } = await import('../../platform/digest.ts');
    const { openFile } = await import('../../engine/plan/contact-files.ts');
    const { reconcileSheet } = await import('../../report/billing/reconcile-sheet.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const period = periodOf(shell, options);
    const write = sheetWriter(shell, { ...options, timeZone: period.timeZone }, 'table');
    const scope = {
      accounts: account ?? null,
      subAccounts: subAccount?.map(parsePayer) ?? null,
      channels: channel ?? null,
      visibleAccounts: null,
    };
    const path = resolve(shell.settings.workingFolder, options.invoice);
    const { bytes, shown } = await openFile(path, options.invoice, '--invoice', 'invoice');
    const { column: columns = {}, decimal, country, skipLines, skipUnreadable = false } = options;
    const reading = { name: shown, columns, decimal, country, skipLines };
    const invoice = { name: shown, open: () => openInvoice(bytes, reading), skipUnreadable };
    const filter = { kind: options.finding };
    const agrees = await (options.keep ? withLedger : withLedgerToRead)(shell, async (context) => {
      const { accounts, subAccounts } = scope;
      await requireKnownNames(context, { account: accounts ?? [], SubAccount: subAccounts ?? [] });
      return reconcileInvoice(context, { invoice, period, scope, asked: { filter } }, async (found) => {
        for (const { where, what } of found.unreadable.problems)
          shell.note(`${printable(where)}: ${printable(what)}`);
        await write(reconcileSheet(found, { period, scope, filter }, shell.now()));
        if (options.keep)
          await keepInvoice(context, { found, digest: await digestOfFile(path), period, scope });
        return (
          found.unreadable.lines === 0 &&
          found.totals.every(({ kind }) => ['agrees', 'all', 'tests'].includes(kind))
        );
      });
    });
    if (!agrees) shell.exitWith(3);
  },
});

type Columns = Readonly<Partial<Record<InvoiceField, string>>>;

/** Adds a pair such as `MessageID=Message Ref`. */
function readColumn(text: string, earlier: Columns = {}): Columns {
  const [written, ...rest] = text.split('=');
  const field = invoiceFields.find((known) => known.toLowerCase() === written?.trim().toLowerCase());
  const name = rest.join('=').trim();
  if (field === undefined || name === '')
    throw notInListError(written?.trim() ?? '', invoiceFields, ', "=" and the column\'s name');
  return { ...earlier, [field]: name };
}

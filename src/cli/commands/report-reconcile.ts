import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type InvoiceField, invoiceFields } from '../../contacts/invoice-file.ts';
import { type Channel, channels } from '../../domain/message.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import { reconcileInvoice } from '../../engine/billing/reconcile.ts';
import { openFile } from '../../engine/plan/open-file.ts';
import type { ReconciliationPeriod, ReconciliationScope } from '../../ledger/billing/compare-invoice.ts';
import { noName, parsePayer } from '../../report/billing-sheet.ts';
import { printable } from '../../report/printable.ts';
import { reconcileSheet } from '../../report/reconcile-sheet.ts';
import { parseCountry } from '../country-option.ts';
import { parseWholeNumber, requirePeriod } from '../options.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { parseLocalTime } from '../scalar-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { timeZoneOption } from '../time-zone-option.ts';
import { notInListError } from '../usage-errors.ts';

type ReconcileOptions = ReportOptions & {
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

export function define(command: Command, shell: Shell): void {
  const reconcile = command
    .command('reconcile')
    .description(
      'Compares an invoice of the service with the ledger, by MessageID and recipient. Prints lines that are missing on one side, charged twice, or at another price. Ends with exit code 3 when they differ. docs/how-to/reconcile.md explains the report.',
    )
    .requiredOption(
      '--invoice <file>',
      'a CSV file, gzipped or not, or a workbook (.xlsx) with a line for each recipient',
    )
    .option(
      '--column <field=name...>',
      `the column of ${invoiceFields.join(', ')}, such as MessageID="Message Ref" (default: the usual names)`,
      parseColumn,
    )
    .addOption(
      new Option('--decimal <sign>', 'the decimal separator').choices(['point', 'comma']).default('point'),
    )
    .option('--country <country>', 'country of numbers without a country code', parseCountry)
    .option('--skip-lines <number>', 'lines before the header', parseWholeNumber, 0)
    .option('--skip-unreadable', 'skip lines that cannot be read, instead of stopping')
    .option(
      '--from <date>',
      'the invoice is for requests sent from this time on: 2026-11 or 2026-11-01',
      parseLocalTime,
    )
    .option('--to <date>', 'the invoice is for requests sent before this time', parseLocalTime)
    .addOption(timeZoneOption('time zone of the dates'))
    .option('--account <name...>', 'the invoice is for these accounts only')
    .option('--sub-account <name...>', `the invoice is for these SubAccounts only, or ${noName}`)
    .addOption(
      new Option('--channel <channel...>', 'the invoice is for these channels only').choices(channels),
    );
  addReportOptions(reconcile, 'table').action(async (options: ReconcileOptions) => {
    const write = sheetWriter(shell, options, 'table');
    const period = periodOf(options);
    const scope = scopeOf(options);
    const path = resolve(shell.settings.workingFolder, options.invoice);
    const { bytes, shown } = await openFile(path, options.invoice, '--invoice', 'invoice');
    const { column: columns = {}, decimal, country, skipLines, skipUnreadable = false } = options;
    const invoice = { name: shown, bytes, columns, decimal, country, skipLines, skipUnreadable };
    const agrees = await withLedgerToRead(shell, async (context) => {
      const { accounts, subAccounts } = scope;
      await requireKnownNames(context, { account: accounts ?? [], SubAccount: subAccounts ?? [] });
      return reconcileInvoice(context, invoice, period, scope, async (found) => {
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
  });
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
  };
}

function filterTexts({ account, subAccount, channel }: ReconcileOptions): string[] {
  const filters = { account, SubAccount: subAccount, channel };
  return Object.entries(filters).flatMap(([name, values]) =>
    values ? [`${name}: ${values.join(', ')}`] : [],
  );
}

/** Adds a pair such as `MessageID=Message Ref`. */
function parseColumn(
  text: string,
  earlier: Readonly<Partial<Record<InvoiceField, string>>> = {},
): Readonly<Partial<Record<InvoiceField, string>>> {
  const [written, ...rest] = text.split('=');
  const field = invoiceFields.find((known) => known.toLowerCase() === written?.trim().toLowerCase());
  const name = rest.join('=').trim();
  if (field === undefined || name === '')
    throw notInListError(written?.trim() ?? '', invoiceFields, ', "=" and the column\'s name');
  return { ...earlier, [field]: name };
}

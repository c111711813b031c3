import { type Command, Option } from 'commander';
import { type InvoiceField, invoiceFields } from '../../contacts/invoice-file.ts';
import { channels } from '../../domain/message.ts';
import { noName } from '../../report/billing-words.ts';
import type { ReconcileOptions } from '../actions/report-reconcile.ts';
import { countryOption, lateOption, localTimeReader, utcZoneOption } from '../late-options.ts';
import { parseWholeNumber } from '../options.ts';
import { addReportOptions } from '../report-options.ts';
import type { Shell } from '../shell.ts';
import { notInListError } from '../usage-errors.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
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
    .addOption(await countryOption(words, 'country of numbers without a country code'))
    .option('--skip-lines <number>', 'lines before the header', parseWholeNumber, 0)
    .option('--skip-unreadable', 'skip lines that cannot be read, instead of stopping')
    .addOption(
      await lateOption(
        words,
        '--from <date>',
        'the invoice is for requests sent from this time on: 2026-11 or 2026-11-01',
        localTimeReader,
      ),
    )
    .addOption(
      await lateOption(
        words,
        '--to <date>',
        'the invoice is for requests sent before this time',
        localTimeReader,
      ),
    )
    .addOption(await utcZoneOption(words, 'time zone of the dates'))
    .option('--account <name...>', 'the invoice is for these accounts only')
    .option('--sub-account <name...>', `the invoice is for these SubAccounts only, or ${noName}`)
    .addOption(
      new Option('--channel <channel...>', 'the invoice is for these channels only').choices(channels),
    );
  addReportOptions(reconcile, 'table').action(async (options: ReconcileOptions) => {
    const { reconcileAction } = await import('../actions/report-reconcile.ts');
    await reconcileAction(shell, options);
  });
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

import { type Command, InvalidArgumentError, Option } from 'commander';
import { channels } from '../../domain/message.ts';
import { type BillingDimension, billingDimensions } from '../../ledger/billing/report.ts';
import { noName, parseDimensions } from '../../report/billing-words.ts';
import type { BillingOptions } from '../actions/report-billing.ts';
import { entriesOf, type FilterOption, filters } from '../billing-filters.ts';
import { lateOption, utcZoneOption } from '../late-options.ts';
import { addReportOptions } from '../report-options.ts';
import type { Shell } from '../shell.ts';
import { notInListError } from '../usage-errors.ts';

const filterFlags: Readonly<Record<FilterOption, string>> = {
  subAccount: '--sub-account <name...>',
  department: '--department <name...>',
  chargeCode: '--charge-code <code...>',
  account: '--account <name...>',
  campaign: '--campaign <name...>',
  channel: '--channel <channel...>',
  run: '--run <run...>',
};

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  const billing = command
    .command('billing')
    .description(
      'Prints requests, recipients, units and money by payer, of the requests sent in a period. The totals are the sum of the lines. The report of a closed month (volley billing close) does not change.',
    )
    .addOption(
      await lateOption(
        words,
        '--from <date>',
        'requests sent from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30',
        billingTimeReader,
      ),
    )
    .addOption(await lateOption(words, '--to <date>', 'requests sent before this time', billingTimeReader))
    .addOption(await utcZoneOption(words, 'time zone of the dates'))
    .addOption(
      new Option('--by <dimensions>', `dimensions separated by commas: ${billingDimensions.join(', ')}`)
        .default(['SubAccount', 'ChargeCode'], 'SubAccount,ChargeCode')
        .argParser(dimensionsReader()),
    );
  for (const [option, dimension] of entriesOf(filters)) {
    const filter = new Option(filterFlags[option], `only this ${dimension}${alsoTaken(option)}`);
    billing.addOption(option === 'channel' ? filter.choices(channels) : filter);
  }
  addReportOptions(billing, 'table').action(async (options: BillingOptions) => {
    const { billingAction } = await import('../actions/report-billing.ts');
    await billingAction(shell, options);
  });
}

const billingTimeReader = async () => (await import('../scalar-options.ts')).parseBillingTime;

/** The option can be repeated. */
function dimensionsReader(): (text: string) => readonly BillingDimension[] {
  const given: string[] = [];
  return (text) => {
    given.push(text);
    return parseDimensionsOption(given.join(','));
  };
}

function parseDimensionsOption(text: string): readonly BillingDimension[] {
  const names = text.split(',').map((name) => name.trim());
  const isKnown = (name: string): boolean =>
    billingDimensions.some((known) => known.toLowerCase() === name.toLowerCase());
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) throw notInListError(unknown, billingDimensions, ', separated by commas');
  const dimensions = parseDimensions(text);
  if (typeof dimensions === 'string') throw new InvalidArgumentError(dimensions);
  return dimensions;
}

/** Every run has an account, a campaign and a channel. */
function alsoTaken(option: FilterOption): string {
  if (option === 'run') return ': its id, the beginning of it, or `latest`';
  return option === 'subAccount' || option === 'department' || option === 'chargeCode'
    ? `, or ${noName}`
    : '';
}

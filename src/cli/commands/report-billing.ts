import { type Command, InvalidArgumentError, Option } from 'commander';
import { channels } from '../../domain/message.ts';
import { reportBillingLines } from '../../engine/billing/billing.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import type { EngineContext } from '../../engine/context.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { type BillingDimension, type BillingQuery, billingDimensions } from '../../ledger/billing/report.ts';
import { createBillingReport, parseDimensions } from '../../report/billing-report.ts';
import { noName, parsePayer } from '../../report/billing-sheet.ts';
import { requirePeriod } from '../options.ts';
import { addReportOptions, type ReportOptions, sheetWriter, type WriteSheet } from '../report-options.ts';
import { parseBillingTime } from '../scalar-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { timeZoneOption } from '../time-zone-option.ts';
import { notInListError } from '../usage-errors.ts';

type BillingOptions = ReportOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly timeZone: string;
  readonly by: readonly BillingDimension[];
} & { readonly [Option in FilterOption]?: readonly string[] };

const filters = {
  subAccount: 'SubAccount',
  department: 'Department',
  chargeCode: 'ChargeCode',
  account: 'account',
  campaign: 'campaign',
  channel: 'channel',
  run: 'run',
} as const satisfies Readonly<Record<string, keyof BillingQuery['filter']>>;
type FilterOption = keyof typeof filters;

const filterFlags: Readonly<Record<FilterOption, string>> = {
  subAccount: '--sub-account <name...>',
  department: '--department <name...>',
  chargeCode: '--charge-code <code...>',
  account: '--account <name...>',
  campaign: '--campaign <name...>',
  channel: '--channel <channel...>',
  run: '--run <run...>',
};

export function define(command: Command, shell: Shell): void {
  const billing = command
    .command('billing')
    .description(
      'Prints requests, recipients, units and money by payer, of the requests sent in a period. The totals are the sum of the lines. The report of a closed month (volley billing close) does not change.',
    )
    .option(
      '--from <date>',
      'requests sent from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30',
      parseBillingTime,
    )
    .option('--to <date>', 'requests sent before this time', parseBillingTime)
    .addOption(timeZoneOption('time zone of the dates'))
    .addOption(
      new Option('--by <dimensions>', `dimensions separated by commas: ${billingDimensions.join(', ')}`)
        .default(['SubAccount', 'ChargeCode'], 'SubAccount,ChargeCode')
        .argParser(parseDimensionsOption),
    );
  for (const [option, dimension] of entriesOf(filters)) {
    const filter = new Option(
      filterFlags[option],
      `only this ${dimension}${hasNone(option) ? `, or ${noName}` : ''}`,
    );
    billing.addOption(option === 'channel' ? filter.choices(channels) : filter);
  }
  addReportOptions(billing, 'table').action(async (options: BillingOptions) => {
    const write = sheetWriter(shell, options, 'table');
    const query = queryOf(options);
    await withLedgerToRead(shell, async (context) => {
      for (const run of options.run ?? []) await requireRun(context, run);
      await requireKnownNames(context, query.filter);
      await writeBilling(context, query, write, shell.now());
    });
  });
}

/** Closed months are as of their closing. */
export async function writeBilling(
  context: EngineContext,
  query: BillingQuery,
  write: WriteSheet,
  asOf: Date,
): Promise<void> {
  await reportBillingLines(context, query, async (streamed) =>
    write(await createBillingReport(query, streamed, asOf)),
  );
}

function queryOf({ from, to, timeZone, by, ...options }: BillingOptions): BillingQuery {
  requirePeriod(from, to);
  const only = entriesOf(filters).flatMap(([option, dimension]) => {
    const values = options[option];
    return values ? [[dimension, values.map(parsePayer)] as const] : [];
  });
  return { by, from: from ?? null, until: to ?? null, timeZone, filter: Object.fromEntries(only) };
}

function entriesOf<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys.map((key) => [key, record[key]]);
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
function hasNone(option: FilterOption): boolean {
  return option === 'subAccount' || option === 'department' || option === 'chargeCode';
}

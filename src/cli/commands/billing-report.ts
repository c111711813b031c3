import { InvalidArgumentError } from 'commander';
import { channels } from '../../domain/message.ts';
import type { EngineContext } from '../../engine/context.ts';
import { type BillingDimension, type BillingQuery, billingDimensions } from '../../ledger/billing/report.ts';
import { noName, parseDimensions, toBillingQuery } from '../../report/billing/billing-words.ts';
import { defineCommand, option } from '../command.ts';
import { loadBillingTimeReader } from '../option-readers.ts';
import { periodOf, periodOptions } from '../options.ts';
import type { WriteSheet } from '../output/write-report.ts';
import { reportOptions } from '../report-options.ts';
import { withLedgerToRead } from '../shell.ts';

const onlyThese = 'only these';
const onlyThesePayers = `only these; ${noName}: without one`;

const usualDimensions: readonly BillingDimension[] = ['SubAccount', 'ChargeCode'];

export const command = defineCommand({
  description:
    'Prints recipients, units and money by payer, for requests sent in a period. That of a closed month does not change.',
  options: [
    ...periodOptions('requests sent', loadBillingTimeReader),
    option(
      '--by <dimensions>',
      `what to group by, with commas: ${billingDimensions.join(', ')} (default: ${usualDimensions.join(',')})`,
      { read: readDimensions },
    ),
    option('--sub-account <name...>', onlyThesePayers),
    option('--department <name...>', onlyThesePayers),
    option('--charge-code <code...>', onlyThesePayers),
    option('--account <name...>', onlyThese),
    option('--campaign <name...>', onlyThese),
    option('--channel <channel...>', onlyThese, { choices: channels }),
    option('--run <run...>', onlyThese),
    ...reportOptions('table'),
  ],
  examples: [
    ['volley billing report --from 2026-11', 'bill November by SubAccount and ChargeCode'],
    ['volley billing report --by campaign,month --out billing.xlsx', 'write a workbook'],
  ],
  run: async (shell, _, { by = usualDimensions, ...options }) => {
    const { requireKnownNames } = await import('../../engine/billing/known-names.ts');
    const { requireRun } = await import('../../engine/runs/find-run.ts');
    const { chooseRun } = await import('../runs/choose-run.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const { timeZone } = periodOf(shell, options);
    const write = sheetWriter(shell, { ...options, timeZone }, 'table');
    await withLedgerToRead(shell, async (context) => {
      const run: string[] = [];
      for (const name of options.run ?? [])
        run.push((await requireRun(context, await chooseRun(shell, context, name))).run);
      const query = toBillingQuery({ ...options, ...(options.run && { run }), timeZone, by });
      await requireKnownNames(context, query.filter);
      await writeBilling(context, query, write, shell.now());
    });
  },
});

/** Closed months are as of their closing. */
export async function writeBilling(
  context: EngineContext,
  query: BillingQuery,
  write: WriteSheet,
  asOf: Date,
): Promise<void> {
  const { reportBillingLines } = await import('../../engine/billing/billing.ts');
  const { createBillingReport } = await import('../../report/billing/billing-sheet.ts');
  await reportBillingLines(context, query, async (streamed) =>
    write(await createBillingReport(query, streamed, asOf)),
  );
}

/** The option can be repeated. */
function readDimensions(text: string, before: readonly BillingDimension[] = []): readonly BillingDimension[] {
  const dimensions = parseDimensions([...before, text].join(','));
  if (typeof dimensions === 'string') throw new InvalidArgumentError(dimensions);
  return dimensions;
}

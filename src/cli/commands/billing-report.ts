import { InvalidArgumentError } from 'commander';
import { channels } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import type { CellBilling } from '../../engine/cells/figures.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Closing } from '../../ledger/billing/close.ts';
import { type BillingDimension, type BillingQuery, billingDimensions } from '../../ledger/billing/report.ts';
import { noName, parseDimensions, toBillingQuery } from '../../report/billing/billing-words.ts';
import { awayExits, cellsOf, chooseRunOfCells, type Part, readCells } from '../cells.ts';
import { defineCommand, option } from '../command.ts';
import { loadBillingTimeReader } from '../option-readers.ts';
import { periodOf, periodOptions, reportOptions } from '../options.ts';
import type { WriteSheet } from '../output/write-report.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

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
    option('--sort <column>', 'sort by this name or figure, such as price; -price: the largest first'),
    option('--sub-account <name...>', onlyThesePayers),
    option('--department <name...>', onlyThesePayers),
    option('--charge-code <code...>', onlyThesePayers),
    option('--account <name...>', onlyThese),
    option('--campaign <name...>', onlyThese),
    option('--channel <channel...>', onlyThese, { choices: channels }),
    option('--run <run...>', onlyThese),
    ...reportOptions('table'),
  ],
  exits: awayExits,
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
    const cells = await cellsOf(shell);
    if (cells && options.sort !== undefined)
      throw new InputError([{ where: '--sort', what: 'Lines of several ledgers are sorted by name only.' }]);
    if (cells) {
      const run: string[] = [];
      for (const name of options.run ?? [])
        run.push((await chooseRunOfCells(shell, cells, { name })).run.run);
      const query = toBillingQuery({ ...options, ...(options.run && { run }), timeZone, by });
      await writeBillingOfCells(shell, query, write);
      return;
    }
    await withLedgerToRead(shell, async (context) => {
      const run: string[] = [];
      for (const name of options.run ?? [])
        run.push((await requireRun(context, await chooseRun(shell, context, name))).run);
      const query = toBillingQuery({ ...options, ...(options.run && { run }), timeZone, by });
      await requireKnownNames(context, query.filter);
      await writeBilling(context, query, write);
    });
  },
});

/** Closed months are as of their closing. */
export async function writeBilling(
  context: EngineContext,
  query: BillingQuery,
  write: WriteSheet,
): Promise<void> {
  const { reportBillingLines } = await import('../../engine/billing/billing.ts');
  const { createBillingReport } = await import('../../report/billing/billing-sheet.ts');
  await reportBillingLines(context, query, (streamed) => write(createBillingReport(query, streamed)));
}

/** Adds up the billing of all cells. A month is closed if every one has closed it. */
async function writeBillingOfCells(shell: Shell, query: BillingQuery, write: WriteSheet): Promise<void> {
  const { refuseUnknown } = await import('../../engine/billing/known-names.ts');
  const { addUpLines, addUpTotals, closingOfAll } = await import('../../engine/cells/figures.ts');
  const { readCellBilling } = await import('../../engine/cells/figures.ts');
  const { billingSheet } = await import('../../report/billing/billing-sheet.ts');
  const { parts, away, gaps } = await readCells(shell, (context) => readCellBilling(context, query));
  const reports = parts.map(({ value }) => value);
  if (away.length === 0) refuseUnknown(reports.map(({ unknown }) => unknown));
  const totals = addUpTotals(reports.flatMap((report) => report.totals));
  const closings = parts.map(({ value }) => value.closing);
  const closing = away.length === 0 ? closingOfAll(closings) : undefined;
  async function* lines() {
    yield addUpLines(reports.flatMap((report) => report.lines));
  }
  const sheet = billingSheet(
    query,
    { lines: lines(), totals, closing },
    { at: closing?.closedAt ?? shell.now() },
  );
  await write({ ...sheet, subtitle: [...sheet.subtitle, ...cellsText(parts, gaps, closing)] });
}

/** Which cells the figures are of, and where a month that is closed in some is not. */
function cellsText(
  parts: readonly Part<CellBilling>[],
  gaps: readonly string[],
  closing: Closing | undefined,
): string[] {
  const named = (closed: boolean): string =>
    parts
      .filter(({ value }) => (value.closing !== undefined) === closed)
      .map(({ cell }) => cell)
      .join(', ');
  const partly = closing === undefined && named(true) !== '' && named(false) !== '';
  return [
    `cells: ${parts.map(({ cell }) => cell).join(', ')}`,
    ...gaps,
    ...(partly ? [`closed in ${named(true)}, and not in ${named(false)}`] : []),
  ];
}

/** The option can be repeated. */
function readDimensions(text: string, before: readonly BillingDimension[] = []): readonly BillingDimension[] {
  const dimensions = parseDimensions([...before, text].join(','));
  if (typeof dimensions === 'string') throw new InvalidArgumentError(dimensions);
  return dimensions;
}

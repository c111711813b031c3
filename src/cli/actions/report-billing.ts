import { reportBillingLines } from '../../engine/billing/billing.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import type { EngineContext } from '../../engine/context.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import type { BillingDimension, BillingQuery } from '../../ledger/billing/report.ts';
import { createBillingReport } from '../../report/billing-report.ts';
import { parsePayer } from '../../report/billing-words.ts';
import { entriesOf, type FilterOption, filters } from '../billing-filters.ts';
import { chooseRun } from '../choose-run.ts';
import { requirePeriod } from '../options.ts';
import type { ReportOptions } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { sheetWriter, type WriteSheet } from '../write-report.ts';

export type BillingOptions = ReportOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly timeZone: string;
  readonly by: readonly BillingDimension[];
} & { readonly [Option in FilterOption]?: readonly string[] };

export async function billingAction(shell: Shell, options: BillingOptions): Promise<void> {
  const write = sheetWriter(shell, options, 'table');
  requirePeriod(options.from, options.to);
  await withLedgerToRead(shell, async (context) => {
    const query = queryOf({ ...options, ...(await runsOf(shell, context, options)) });
    await requireKnownNames(context, query.filter);
    await writeBilling(context, query, write, shell.now());
  });
}

async function runsOf(
  shell: Shell,
  context: EngineContext,
  { run: names }: BillingOptions,
): Promise<Pick<BillingOptions, 'run'>> {
  if (names === undefined) return {};
  const run: string[] = [];
  for (const name of names) run.push((await requireRun(context, await chooseRun(shell, context, name))).run);
  return { run };
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
  const only = entriesOf(filters).flatMap(([option, dimension]) => {
    const values = options[option];
    return values ? [[dimension, values.map(parsePayer)] as const] : [];
  });
  return { by, from: from ?? null, until: to ?? null, timeZone, filter: Object.fromEntries(only) };
}

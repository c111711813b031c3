import type { InvoiceLine, UnreadableLine } from '../../contacts/invoice-file.ts';
import type { OpenedInvoice } from '../../contacts/open-invoice.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import {
  compareInvoice,
  type ReconciliationPeriod,
  type ReconciliationScope,
  stageInvoice,
} from '../../ledger/billing/compare-invoice.ts';
import {
  type AskedDifferences,
  type ReconciliationLine,
  type ReconciliationTotal,
  streamDifferences,
  totalReconciliation,
} from '../../ledger/billing/reconcile.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { monthAfter } from '../../platform/months.ts';
import { auditOnce } from '../audit.ts';
import type { EngineContext } from '../context.ts';

export type InvoiceSource = {
  /** As errors show it. */
  readonly name: string;
  readonly open: () => Promise<OpenedInvoice>;
  /** Counts unreadable lines instead of refusing the invoice. */
  readonly skipUnreadable: boolean;
  /** More are refused; undefined: any number. */
  readonly maxLines?: number;
};

export type Reconciliation = {
  readonly name: string;
  readonly hasUnits: boolean;
  readonly hasDate: boolean;
  /** Those that were asked for. Can be read once. */
  readonly differences: AsyncIterable<readonly ReconciliationLine[]>;
  /** Of the whole invoice. */
  readonly totals: readonly ReconciliationTotal[];
  /** Of what the filter selects. */
  readonly askedTotals: readonly ReconciliationTotal[];
  /** Skipped lines: their count, and the first of them. */
  readonly unreadable: { readonly lines: number; readonly problems: readonly Problem[] };
};

const maxProblems = 20;

/**
 * Compares an invoice with the ledger, in constant memory.
 *
 * @throws InputError when the invoice, or a line that is not skipped, cannot be read
 */
export async function reconcileInvoice<Result>(
  { ledger }: EngineContext,
  {
    invoice,
    period,
    scope,
    asked = { filter: {} },
  }: {
    readonly invoice: InvoiceSource;
    readonly period: ReconciliationPeriod;
    readonly scope: ReconciliationScope;
    /** Undefined: all differences. */
    readonly asked?: AskedDifferences | undefined;
  },
  use: (reconciliation: Reconciliation) => Promise<Result>,
): Promise<Result> {
  const { name } = invoice;
  const { hasUnits, hasDate, batches, close } = await invoice.open();
  try {
    const unreadable = { lines: 0, problems: [] as Problem[] };
    const reconcile = async (client: Transaction): Promise<Result> => {
      await stageInvoice(client, readable(name, batches, unreadable, invoice.maxLines));
      if (unreadable.lines > 0 && !invoice.skipUnreadable) throw unreadableLines(name, unreadable);
      await compareInvoice(client, period, scope);
      return use({
        name,
        hasUnits,
        hasDate,
        totals: await totalReconciliation(client),
        askedTotals: await totalReconciliation(client, asked.filter),
        differences: streamDifferences(client, asked),
        unreadable,
      });
    };
    // It writes temporary tables, which Postgres counts as changes.
    return await inTransaction(ledger.pool, reconcile, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE');
  } finally {
    await close();
  }
}

async function* readable(
  name: string,
  batches: AsyncIterable<readonly (InvoiceLine | UnreadableLine)[]>,
  unreadable: { lines: number; readonly problems: Problem[] },
  maxLines = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly InvoiceLine[], void, undefined> {
  let count = 0;
  for await (const batch of batches) {
    count += batch.length;
    if (count > maxLines) throw tooManyLines(name, maxLines);
    for (const line of batch) {
      if (line.kind === 'line') continue;
      unreadable.lines++;
      if (unreadable.problems.length < maxProblems) unreadable.problems.push(line.problem);
    }
    yield batch.filter((line) => line.kind === 'line');
  }
}

function tooManyLines(name: string, maxLines: number): InputError {
  const what = `It has more than ${maxLines} lines. \`volley billing reconcile --invoice <file>\` compares an invoice of any size.`;
  return new InputError([{ where: name, what }]);
}

function unreadableLines(
  name: string,
  { lines, problems }: { readonly lines: number; readonly problems: readonly Problem[] },
): InputError {
  const [counted, them] = lines === 1 ? ['1 line', 'it'] : [`${lines} lines`, 'them'];
  const what = `${counted} of the invoice cannot be read, so nothing was compared. Fix ${them}, or skip ${them} with --skip-unreadable.`;
  return new InputError([...problems, { where: name, what }]);
}

/** How an invoice was compared, and with what result. */
export type ComparedInvoice = {
  readonly found: Reconciliation;
  /** SHA-256 of the file. */
  readonly digest: Buffer;
  readonly period: ReconciliationPeriod;
  readonly scope: Pick<ReconciliationScope, 'accounts' | 'subAccounts' | 'channels'>;
};

/**
 * Keeps the sums of a comparison with its month, in the audit trail: at most a line for each finding, as long as the
 * trail. The file is not kept; its digest shows whether another file is the same.
 *
 * @returns false if the actor has kept the same result before
 */
export async function keepInvoice(
  context: EngineContext,
  { found, digest, period, scope: { accounts, subAccounts, channels } }: ComparedInvoice,
): Promise<boolean> {
  const { name, totals, unreadable } = found;
  const all = totals.find(({ kind }) => kind === 'all');
  const findings = totals.filter(({ kind }) => kind !== 'all' && kind !== 'tests');
  const details = {
    invoice: name,
    'charged too much': all?.tooMuch,
    'charged too little': all?.tooLittle,
    'not known': all?.notKnown,
    difference: all?.difference,
    findings: findings.map(({ kind, lines }) => `${lines} ${kind}`),
    unreadableLines: unreadable.lines || null,
    timeZone: period.timeZone,
    accounts,
    subAccounts,
    channels,
    sha256: digest.toString('hex'),
  };
  return auditOnce(context, { action: 'invoice kept', subject: nameOfPeriod(period), details });
}

/** `2026-11`, or `2026-11-01T00:00 to 2026-11-08T00:00`. */
export function nameOfPeriod({ from, until }: Pick<ReconciliationPeriod, 'from' | 'until'>): string {
  const month = from?.slice(0, 7) ?? '';
  const isMonth = from === `${month}-01T00:00` && until === `${monthAfter(month)}-01T00:00`;
  return isMonth ? month : `${from ?? 'the beginning'} to ${until ?? 'now'}`;
}

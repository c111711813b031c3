import type { ReconciliationPeriod, ReconciliationScope } from '../../ledger/billing/compare-invoice.ts';
import { monthAfter } from '../../platform/months.ts';
import { auditOnce } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import type { Reconciliation } from './reconcile.ts';

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

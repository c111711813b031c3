import { type InvoiceReading, openInvoice } from '../../src/contacts/open-invoice.ts';
import {
  type InvoiceSource,
  type Reconciliation,
  reconcileInvoice,
} from '../../src/engine/billing/reconcile.ts';
import { recordOutcomeChanges } from '../../src/ledger/billing/changes.ts';
import type { ReconciliationPeriod, ReconciliationScope } from '../../src/ledger/billing/compare-invoice.ts';
import type { AskedDifferences, ReconciliationLine } from '../../src/ledger/billing/reconcile.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
import { formatDifference } from '../../src/report/billing/reconcile-sheet.ts';
import { acceptAll } from './accept-all.ts';
import { claimRequests, settleRequests } from './claims.ts';
import { collect } from './collect.ts';
import { aContact, anEnvelope, aRun, planContacts, type TestLedger } from './ledger.ts';
import { inOrder } from './sheets.ts';

export const sentAt = new Date('2026-11-21T10:00:00Z');
export const november: ReconciliationPeriod = { from: '2026-11-01', until: '2026-12-01', timeZone: 'UTC' };
const owner = '00000000-0000-4000-8000-000000000001';

export type Invoiced = { readonly run: string; readonly messageId: string; readonly address: string };

export type Charged = { readonly units: string | null; readonly price: string | null };

/**
 * Plans a run with one request per state, two recipients each. Those of accepted requests are delivered at
 * these charges.
 */
export async function invoicedRun(
  { ledger }: TestLedger,
  states: readonly ('accepted' | 'rejected' | 'in_doubt')[],
  {
    charged = () => ({ units: '1', price: '0.05' }),
    at = sentAt,
    account = 'sandbox',
  }: {
    readonly charged?: (recipient: number) => Charged;
    readonly at?: Date;
    readonly account?: string;
  } = {},
): Promise<readonly Invoiced[]> {
  const { pool } = ledger;
  const envelope = anEnvelope({ Message: 'Hello', SubAccount: 'North', ChargeCode: 'C1' });
  const contacts = Array.from({ length: states.length * 2 }, (_, index) => aContact(index + 1, { envelope }));
  const run = await planContacts(ledger, aRun({ createdAt: at, account }), contacts);
  await claimRequests(pool, { run, owner, limit: states.length, now: at });
  await settleRequests(
    pool,
    run,
    owner,
    states.map((state, index) => {
      const outcome = { attempt: 1, finishedAt: at, request: index + 1 };
      if (state === 'accepted') return { ...outcome, state, httpStatus: 200, detail: null };
      if (state === 'rejected') return { ...outcome, state, httpStatus: 400, detail: 'No credit' };
      return { ...outcome, state, httpStatus: null, detail: 'no answer' };
    }),
  );
  const { rows } = await pool.query<Invoiced & { readonly request: number; readonly position: number }>(
    `
    SELECT run_id AS run, message_id AS "messageId", address, request, position
    FROM recipient_states
    WHERE run_id = $1
    ORDER BY 4, 5
    `,
    [run],
  );
  for (const [index, { request, position }] of rows.entries()) {
    if (states[request - 1] !== 'accepted') continue;
    const { units, price } = charged(index);
    await pool.query(
      `WITH outcome AS (
         INSERT INTO recipient_outcomes (run_id, request, position, outcome, units, price, reported_at)
         VALUES ($1, $2, $3, 'delivered', $4, $5, $6)
         RETURNING *
       )
       ${recordOutcomeChanges('SELECT 1 AS sign, * FROM outcome')}`,
      [run, request, position, units, price, at],
    );
  }
  return rows;
}

export function invoiceRow({ messageId, address }: Invoiced, price = '0.05', units = '1'): string {
  return `${messageId},${address},${price},${units}`;
}

export const invoiceHeader = 'MessageID,Destination,Price,Units';

export function anInvoice(
  rows: readonly string[],
  {
    bytes = inOrder([Buffer.from([invoiceHeader, ...rows].map((row) => `${row}\n`).join(''))]),
    skipUnreadable = false,
    ...reading
  }: Partial<InvoiceReading> & {
    readonly bytes?: AsyncIterable<Buffer>;
    readonly skipUnreadable?: boolean;
  } = {},
): InvoiceSource {
  const name = 'invoice.csv';
  const whole = { name, columns: {}, decimal: 'point', country: undefined, ...reading } as const;
  return { name, open: () => openInvoice(bytes, whole), skipUnreadable };
}

export type Reconciled = Pick<Reconciliation, 'totals' | 'askedTotals'> & {
  readonly lines: readonly (ReconciliationLine & { readonly detail: string | null })[];
};

/** Compares an invoice with the recipients of all accounts. */
export async function reconcile(
  { context }: TestLedger,
  invoice: InvoiceSource,
  period: ReconciliationPeriod = november,
  scope: Partial<ReconciliationScope> = {},
  asked?: AskedDifferences,
): Promise<Reconciled> {
  const all = { accounts: null, subAccounts: null, channels: null, visibleAccounts: null };
  return reconcileInvoice(
    context,
    { invoice, period, scope: { ...all, ...scope }, asked },
    async ({ differences, totals, askedTotals }) => ({
      totals,
      askedTotals,
      lines: (await collect(differences)).flat().map((line) => ({ ...line, detail: formatDifference(line) })),
    }),
  );
}

/** The address of a recipient of `deliveredRun`, by request × each + position, as an invoice has it. */
export const deliveredAddress = (number: number): string => `6421${String(number).padStart(7, '0')}`;

/**
 * A large run, accepted and delivered a day after it was planned, at a price of 0.05.
 *
 * @param each recipients of a request
 * @returns its MessageIDs
 */
export async function deliveredRun(
  ledger: Ledger,
  {
    requests,
    each,
    createdAt,
  }: { readonly requests: number; readonly each: number; readonly createdAt: Date },
): Promise<readonly string[]> {
  const { pool } = ledger;
  const envelope = anEnvelope({ Message: 'Hello', SubAccount: 'North', ChargeCode: 'C1' });
  const run = await planContacts(ledger, aRun({ createdAt }), [aContact(1, { envelope })]);
  await pool.query(`UPDATE slices SET last_request = ${requests} WHERE run_id = $1 AND slice = 1`, [run]);
  await pool.query('DELETE FROM contents WHERE run_id = $1', [run]);
  const sentAt = new Date(createdAt.getTime() + 86_400_000);
  await pool.query(
    `
    WITH outcome AS (
      INSERT INTO recipient_outcomes (run_id, request, position, outcome, units, price, reported_at)
      SELECT $1, n, p, 'delivered', 1, 0.05, $2
      FROM generate_series(1, ${requests}) n, generate_series(1, ${each}) p
    )
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, parts)
    SELECT $1, n, n, 1, '{1}', ARRAY[count(*)], array_agg(0), array_agg(p ORDER BY p), array_agg(p ORDER BY p),
           array_agg('+6421' || lpad((n * ${each} + p)::text, 7, '0') ORDER BY p), array_agg(1)
    FROM generate_series(1, ${requests}) n, generate_series(1, ${each}) p
    GROUP BY n
    `,
    [run, sentAt],
  );
  await acceptAll(pool, run, sentAt);
  await pool.query('ANALYZE');
  const { rows } = await pool.query<{ id: string }>(
    'SELECT message_id AS id FROM request_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
  return rows.map(({ id }) => id);
}

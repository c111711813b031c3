import type { DeliveryOutcome } from '../../domain/delivery-reports.ts';
import type { RequestReason } from '../../domain/reasons.ts';
import type { RequestState } from '../../domain/runs.ts';
import { streamRows } from '../cursor.ts';
import { requestReason, type Stored } from '../reasons.ts';
import type { Transaction } from '../session.ts';

/** Results for invoice lines and for recipients missing from the invoice, in report order. */
export const reconciliationKinds = [
  'billed but not sent',
  'not in the invoice',
  'other price',
  'other units',
  'twice in the invoice',
  'other period',
  'unknown',
] as const;
export type ReconciliationKind = (typeof reconciliationKinds)[number];

export type LineDetails = {
  readonly firstLine: number | null;
  readonly outcome: DeliveryOutcome | 'cancelled' | null;
  /** In the report's zone: `2026-11-21 10:00`. */
  readonly sent: string | null;
  /** The reported price. */
  readonly price: string | null;
  readonly hasUnits: boolean;
  readonly sameUnits: boolean;
  /** Null: no request has the MessageID. */
  readonly state: RequestState | null;
  readonly reason: RequestReason | null;
  /** Of a purged run the ledger knows no more. */
  readonly purged: boolean;
  readonly hasRecipient: boolean;
  /** A rejected request whose recipients were moved to two others, with other MessageIDs. */
  readonly divided: boolean;
  readonly test: boolean;
};

export type ReconciliationLine = {
  readonly kind: ReconciliationKind;
  readonly messageId: string;
  /** The address it was sent to, else the invoice's. */
  readonly recipient: string;
  readonly run: string | null;
  readonly request: number | null;
  readonly subAccount: string | null;
  readonly department: string | null;
  readonly chargeCode: string | null;
  readonly line: number | null;
  readonly date: string | null;
  readonly invoicedUnits: string | null;
  readonly units: string | null;
  readonly invoicedPrice: string | null;
  /** The compared price; null where nothing matches the line. */
  readonly price: string | null;
  /** invoicedPrice - price, with null as 0. */
  readonly difference: string;
  readonly details: LineDetails;
};

type DbLine = Omit<ReconciliationLine, 'details'> & { readonly details: Stored<LineDetails> };

export type ReconciliationTotal = {
  /** `tests`: of all, the recipients of tests. */
  readonly kind: ReconciliationKind | 'agrees' | 'all' | 'tests';
  readonly lines: number;
  readonly invoicedUnits: string;
  readonly units: string;
  readonly invoicedPrice: string;
  readonly price: string;
  readonly difference: string;
};

export async function* streamDifferences(
  client: Transaction,
): AsyncGenerator<readonly ReconciliationLine[], void, undefined> {
  const sql = `
    SELECT kind, message_id AS "messageId", recipient, run_id AS run, request, sub_account AS "subAccount", department,
           charge_code AS "chargeCode", line, date, invoiced_units::text AS "invoicedUnits", units::text AS units,
           invoiced_price::text AS "invoicedPrice", price::text AS price,
           (coalesce(invoiced_price, 0) - coalesce(price, 0))::text AS difference, details
    FROM reconciled
    WHERE kind <> 'agrees'
    ORDER BY array_position($1::text[], kind), run_id NULLS FIRST, request, message_id, recipient, line
  `;
  const differences = { sql, values: [reconciliationKinds] };
  for await (const rows of streamRows<DbLine>(client, 'differences', differences, 2_000))
    yield rows.map((row) => ({
      ...row,
      details: { ...row.details, reason: requestReason(row.details.reason) },
    }));
}

export async function totalReconciliation(client: Transaction): Promise<ReconciliationTotal[]> {
  const sums = `
    count(*)::float8 AS lines, coalesce(sum(invoiced_units), 0)::text AS "invoicedUnits",
    coalesce(sum(units), 0)::text AS units, coalesce(sum(invoiced_price), 0)::text AS "invoicedPrice",
    coalesce(sum(price), 0)::text AS price,
    (coalesce(sum(invoiced_price), 0) - coalesce(sum(price), 0))::text AS difference`;
  const { rows } = await client.query<ReconciliationTotal>(
    `
    SELECT coalesce(kind, 'all') AS kind, ${sums}
    FROM reconciled
    GROUP BY GROUPING SETS ((kind), ())
    ORDER BY grouping(kind), array_position($1::text[], kind) NULLS FIRST
    `,
    [reconciliationKinds],
  );
  const { rows: tests } = await client.query<ReconciliationTotal>(
    `SELECT 'tests' AS kind, ${sums} FROM reconciled WHERE test HAVING count(*) > 0`,
  );
  return [...rows, ...tests];
}

import type { DeliveryOutcome } from '../../domain/delivery-reports.ts';
import type { RequestReason } from '../../domain/reasons.ts';
import type { RequestState } from '../../domain/runs.ts';
import { streamRows } from '../cursor.ts';
import { requestReason, type Stored } from '../reasons.ts';
import type { Transaction } from '../session.ts';

/** Results for invoice lines and for recipients missing from the invoice. */
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

/** What a difference means for the customer of the service. What costs the customer comes first. */
export const chargeEffects = ['charged too much', 'not known', 'charged too little', 'same price'] as const;
export type ChargeEffect = (typeof chargeEffects)[number];

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
  readonly effect: ChargeEffect;
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
  /** tooMuch + tooLittle + notKnown. */
  readonly difference: string;
  readonly tooMuch: string;
  /** Not above 0. */
  readonly tooLittle: string;
  readonly notKnown: string;
};

/** Undefined: any. */
export type DifferenceFilter = {
  readonly kind?: ReconciliationKind | undefined;
  readonly effect?: ChargeEffect | undefined;
  /** A part of a MessageID, recipient, run or payer, in any case. */
  readonly text?: string | undefined;
};

/** SQL; its parameters are those of `filterValues`. */
const isAsked = `
  kind <> 'agrees' AND ($1::text IS NULL OR kind = $1) AND ($2::text IS NULL OR effect = $2)
  AND ($3::text IS NULL OR strpos(
    lower(concat_ws(' ', message_id, recipient, run_id, sub_account, department, charge_code)), lower($3)
  ) > 0)`;

function filterValues({ kind, effect, text }: DifferenceFilter): unknown[] {
  return [kind ?? null, effect ?? null, text ?? null];
}

/** Which differences are read. What costs most comes first. */
export type AskedDifferences = {
  readonly filter: DifferenceFilter;
  /** Differences before the first one. */
  readonly after?: number;
  /** Undefined: all. */
  readonly limit?: number;
};

export async function* streamDifferences(
  client: Transaction,
  { filter, after = 0, limit }: AskedDifferences,
): AsyncGenerator<readonly ReconciliationLine[], void, undefined> {
  const sql = `
    SELECT kind, message_id AS "messageId", recipient, run_id AS run, request, sub_account AS "subAccount", department,
           charge_code AS "chargeCode", line, date, invoiced_units::text AS "invoicedUnits", units::text AS units,
           invoiced_price::text AS "invoicedPrice", price::text AS price, difference::text AS difference, effect, details
    FROM reconciled
    WHERE ${isAsked}
    ORDER BY array_position($4::text[], effect), abs(reconciled.difference) DESC, array_position($5::text[], kind),
             run_id NULLS FIRST, request, message_id, recipient, line
    LIMIT $6 OFFSET $7
  `;
  const values = [...filterValues(filter), chargeEffects, reconciliationKinds, limit ?? null, after];
  for await (const rows of streamRows<DbLine>(client, 'differences', { sql, values }, 2_000))
    yield rows.map((row) => ({
      ...row,
      details: { ...row.details, reason: requestReason(row.details.reason) },
    }));
}

/**
 * The sums of each finding, what costs most first, and of all of them.
 *
 * @param filter of the lines; undefined for all, with those that agree and the sum of tests
 */
export async function totalReconciliation(
  client: Transaction,
  filter?: DifferenceFilter,
): Promise<ReconciliationTotal[]> {
  const sumOf = (effect: ChargeEffect): string =>
    `coalesce(sum(difference) FILTER (WHERE effect = '${effect}'), 0)`;
  const { rows } = await client.query<ReconciliationTotal>(
    `
    SELECT CASE WHEN grouping(kind) = 0 THEN kind WHEN grouping(test) = 0 THEN 'tests' ELSE 'all' END AS kind,
           count(*)::float8 AS lines, coalesce(sum(invoiced_units), 0)::text AS "invoicedUnits",
           coalesce(sum(units), 0)::text AS units, coalesce(sum(invoiced_price), 0)::text AS "invoicedPrice",
           coalesce(sum(price), 0)::text AS price, coalesce(sum(difference), 0)::text AS difference,
           ${sumOf('charged too much')}::text AS "tooMuch", ${sumOf('charged too little')}::text AS "tooLittle",
           ${sumOf('not known')}::text AS "notKnown"
    FROM reconciled
    WHERE ${filter ? isAsked : 'true'}
    GROUP BY GROUPING SETS ((kind), (), (test))
    HAVING grouping(test) = 1 OR ${filter ? 'false' : 'test'}
    ORDER BY grouping(kind), grouping(test) DESC, coalesce(reconciled.kind = 'agrees', false), ${sumOf('charged too much')} DESC,
             ${sumOf('not known')} DESC, ${sumOf('charged too little')}, reconciled.kind
    `,
    filter ? filterValues(filter) : [],
  );
  return rows;
}

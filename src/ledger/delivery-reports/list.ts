import type pg from 'pg';
import type { DeliveryOutcome, DeliveryReportState } from '../../domain/delivery-reports.ts';
import { readPages, streamRows } from '../cursor.ts';
import { outcomeOf } from '../request-rows.ts';
import type { Connection, ReadConnection } from '../session.ts';

export type ListedDeliveryReport = {
  /** A bigint, as text. */
  readonly report: string;
  readonly account: string;
  readonly receivedAt: Date;
  readonly state: DeliveryReportState;
  /** Why it could not be read, or not in full. */
  readonly why: string | null;
  readonly messageId: string | null;
  readonly jobNumber: string | null;
  readonly address: string | null;
  /** In the service's words. */
  readonly status: string | null;
  readonly result: string | null;
  readonly outcome: DeliveryOutcome | 'pending' | null;
  readonly text: string | null;
  /** Decimal text. */
  readonly units: string | null;
  /** Decimal text. */
  readonly price: string | null;
  readonly run: string | null;
};

type DeliveryReportFilter = {
  readonly states: readonly DeliveryReportState[];
  /** Also selects reports in any state that could not be read in full. */
  readonly partlyRead?: boolean;
  readonly run?: string | undefined;
  readonly account?: string | undefined;
  /** With or without a plus sign. */
  readonly address?: string | undefined;
};

/** SQL columns of a `ListedDeliveryReport`, from `delivery_reports k`. */
export const deliveryReportColumns = `
  k.report_id::text AS report, k.account, k.received_at AS "receivedAt", k.state, k.detail AS why,
  k.message_id AS "messageId", k.job_number AS "jobNumber", k.address, k.status, k.result, k.outcome, k.text, k.units::text AS units,
  k.price::text AS price, k.run_id AS run
`;

/** Lists delivery reports in order of arrival. @returns their number */
export async function listDeliveryReports(
  pool: pg.Pool,
  { states, partlyRead = false, run, account, address }: DeliveryReportFilter,
  limit: number | undefined,
  onPage: (page: readonly ListedDeliveryReport[]) => void,
): Promise<number> {
  const sql = `
    SELECT ${deliveryReportColumns}
    FROM delivery_reports k
    WHERE (k.state = ANY ($1::text[]) OR ($6 AND k.detail IS NOT NULL))
      AND ($2::text IS NULL OR k.run_id = $2)
      AND ($3::text IS NULL OR k.account = $3)
      AND ($4::text[] IS NULL OR k.address = ANY ($4))
    ORDER BY k.report_id
    LIMIT $5
  `;
  const values = [
    states,
    run ?? null,
    account ?? null,
    address === undefined ? null : addressVariants(address),
    limit ?? null,
    partlyRead,
  ];
  return readPages(
    pool,
    (client) => streamRows<ListedDeliveryReport>(client, 'reports', { sql, values }, 1_000),
    onPage,
  );
}

/**
 * Counts reports and replies of an address that belong to no known request.
 *
 * @param accounts that received them; null: all
 */
export async function countUnmatchedDeliveryReports(
  client: ReadConnection,
  address: string,
  accounts: readonly string[] | null = null,
): Promise<number> {
  const { rows } = await client.query<{ reports: number }>(
    `
    SELECT count(*)::integer AS reports
    FROM unusual_delivery_reports
    WHERE address = ANY ($1::text[]) AND run_id IS NULL AND ($2::text[] IS NULL OR account = ANY ($2))
    `,
    [addressVariants(address), accounts],
  );
  return rows[0]?.reports ?? 0;
}

/** Services omit the plus sign. */
export function addressVariants(address: string): string[] {
  const number = address.replace(/^\+/, '');
  return [address, number, `+${number}`];
}

/** States that an operator looks at. An index has them. */
export const unresolvedStates = ['conflicting', 'unmatched', 'inbound', 'unreadable', 'failed'] as const;
export type UnresolvedState = (typeof unresolvedStates)[number];

type UnresolvedFilter = {
  readonly state: UnresolvedState;
  /** That received them; null: all. */
  readonly accounts: readonly string[] | null;
  /** Only those of this address that belong to no known message. With or without a plus sign. */
  readonly address?: string | undefined;
};

/** SQL: written out, so that Postgres sees that the index has them. */
const unresolved = `k.state IN (${unresolvedStates.map((state) => `'${state}'`).join(', ')})`;

/**
 * Lists the last report to arrive first. It finds them in the index, which also has the account: of a million
 * unmatched ones, those of an account that has few are found in 90 ms.
 *
 * @param before the last of the page before
 */
export async function pageUnresolvedReports(
  pool: pg.Pool,
  { state, accounts, address }: UnresolvedFilter,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<ListedDeliveryReport[]> {
  const ofAddress = address === undefined ? '' : 'AND k.address = ANY ($5) AND k.run_id IS NULL';
  const { rows } = await pool.query<ListedDeliveryReport>(
    `
    SELECT ${deliveryReportColumns}
    FROM unusual_delivery_reports k
    WHERE report_id = ANY (ARRAY(
      SELECT report_id
      FROM unusual_delivery_reports k
      WHERE k.state = $1 AND ${unresolved} AND ($2::text[] IS NULL OR k.account = ANY ($2))
        AND ($3::bigint IS NULL OR k.report_id < $3) ${ofAddress}
      ORDER BY report_id DESC
      LIMIT $4
    ))
    ORDER BY report_id DESC
    `,
    [state, accounts, before ?? null, limit, ...(address === undefined ? [] : [addressVariants(address)])],
  );
  return rows;
}

/** Counts each state up to a limit, because replies can be many. */
export async function countUnresolvedReports(
  client: Connection,
  accounts: readonly string[] | null,
  limit: number | null,
): Promise<Record<UnresolvedState, number>> {
  const { rows } = await client.query<{ state: UnresolvedState; reports: number }>(
    `
    SELECT s.state, counted.reports
    FROM unnest($1::text[]) AS s (state)
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS reports
      FROM (
        SELECT FROM unusual_delivery_reports k
        WHERE k.state = s.state AND ${unresolved} AND ($2::text[] IS NULL OR k.account = ANY ($2))
        LIMIT $3
      ) limited
    ) counted
    `,
    [unresolvedStates, accounts, limit],
  );
  const counts = { conflicting: 0, unmatched: 0, inbound: 0, unreadable: 0, failed: 0 };
  for (const { state, reports } of rows) counts[state] = reports;
  return counts;
}

export type ConflictingDeliveryReport = {
  readonly messageId: string | null;
  /** Null: erased. */
  readonly address: string | null;
  readonly receivedAt: Date;
  /** `result` is in the service's words. */
  readonly outcome: DeliveryOutcome;
  readonly result: string | null;
  readonly decided: DeliveryOutcome | null;
  readonly decidedResult: string | null;
  readonly decidedAt: Date | null;
};

/** Lists conflicting delivery reports in order of arrival. */
export async function listConflicting(
  client: ReadConnection,
  run: string,
  limit: number,
): Promise<ConflictingDeliveryReport[]> {
  const { rows } = await client.query<ConflictingDeliveryReport>(
    `
    SELECT k.message_id AS "messageId", k.address, k.received_at AS "receivedAt", k.outcome, k.result,
           o.outcome AS decided, o.result AS "decidedResult", o.reported_at AS "decidedAt"
    FROM unusual_delivery_reports k
    LEFT JOIN ${outcomeOf('k.run_id', 'k.request', 'k.position')} o ON o.outcome <> 'cancelled'
    WHERE k.run_id = $1 AND k.state = 'conflicting'
    ORDER BY k.report_id
    LIMIT $2
    `,
    [run, limit],
  );
  return rows;
}

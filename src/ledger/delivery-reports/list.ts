import type pg from 'pg';
import type { DeliveryOutcome, DeliveryReportState } from '../../domain/delivery-reports.ts';
import { readPages, streamRows } from '../cursor.ts';

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
 * Reports and replies of an address that belong to no known request.
 *
 * @param accounts that received them; null: all
 */
export async function countUnmatchedDeliveryReports(
  pool: pg.Pool,
  address: string,
  accounts: readonly string[] | null = null,
): Promise<number> {
  const { rows } = await pool.query<{ reports: number }>(
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

import type pg from 'pg';
import type { DeliveryOutcome, DeliveryReportState } from '../../domain/delivery-reports.ts';
import { readPages, streamRows } from '../cursor.ts';

export type ListedReport = {
  /** A bigint, as text. */
  readonly report: string;
  readonly account: string;
  readonly receivedAt: Date;
  readonly state: DeliveryReportState;
  /** Of one that cannot be read, or not all of it: why. */
  readonly why: string | null;
  readonly messageId: string | null;
  /** The service's own number for the message. */
  readonly jobNumber: string | null;
  readonly address: string | null;
  /** The service's words. */
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

export type ReportFilter = {
  readonly states: readonly DeliveryReportState[];
  /** Whether those too, in whatever state, of which something could not be read. */
  readonly partlyRead?: boolean;
  readonly run?: string | undefined;
  readonly account?: string | undefined;
  /** With or without its plus sign. */
  readonly address?: string | undefined;
};

/** SQL for the columns of a `ListedReport`, of `reports k`. */
export const reportColumns = `
  k.report_id::text AS report, k.account, k.received_at AS "receivedAt", k.state, k.detail AS why,
  k.message_id AS "messageId", k.job_number AS "jobNumber", k.address, k.status, k.result, k.outcome, k.text, k.units::text AS units,
  k.price::text AS price, k.run_id AS run
`;

/** In the order they came. @returns how many there were */
export async function listReports(
  pool: pg.Pool,
  { states, partlyRead = false, run, account, address }: ReportFilter,
  limit: number | undefined,
  onPage: (page: readonly ListedReport[]) => void,
): Promise<number> {
  const sql = `
    SELECT ${reportColumns}
    FROM reports k
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
    (client) => streamRows<ListedReport>(client, 'reports', { sql, values }, 1_000),
    onPage,
  );
}

/** Reports and replies of an address that are of no message that is known. */
export async function countUnmatchedReports(pool: pg.Pool, address: string): Promise<number> {
  const { rows } = await pool.query<{ reports: number }>(
    'SELECT count(*)::integer AS reports FROM unusual_reports WHERE address = ANY ($1::text[]) AND run_id IS NULL',
    [addressVariants(address)],
  );
  return rows[0]?.reports ?? 0;
}

/** Services leave the plus sign out. */
function addressVariants(address: string): string[] {
  const number = address.replace(/^\+/, '');
  return [address, number, `+${number}`];
}

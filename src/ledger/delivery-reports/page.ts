import type pg from 'pg';
import type { Connection } from '../session.ts';
import { addressVariants, deliveryReportColumns, type ListedDeliveryReport } from './list.ts';

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

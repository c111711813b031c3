import type { AuditAction, AuditInterface } from '../../domain/access.ts';
import type { Connection } from '../session.ts';

/** What a list of runs shows of one, besides its progress. Money is exact decimals, as text; some seconds old. */
export type ListFigures = {
  /** Null in a ledger that was restored without its audit trail. */
  readonly plannedBy: string | null;
  readonly plannedHow: AuditInterface | null;
  readonly requestsInDoubt: number;
  readonly currency: string | null;
  /** Null: nothing is booked yet. */
  readonly cost: {
    /** Of delivery reports. */
    readonly price: string;
    /** Without tax. */
    readonly estimated: string;
  } | null;
};

const planned: AuditAction = 'run planned';

/** Reads the rows of each run's requests and of its bookings, so it is not for every look. */
export async function readListFigures(
  client: Connection,
  runs: readonly string[],
): Promise<ReadonlyMap<string, ListFigures>> {
  const { rows } = await client.query<ListFigures & { readonly run: string }>(
    `
    -- Grouped: with a subquery for each run, Postgres read the rows of the largest run once for each (20 s).
    WITH doubts AS (
      SELECT q.run_id, count(*)::integer AS requests
      FROM requests q
      WHERE q.run_id = ANY ($1) AND q.state = 'in_doubt'
      GROUP BY q.run_id
    ), booked AS (
      SELECT e.run_id, sum(e.price) AS price, sum(e.estimated) AS estimated
      FROM billing_entries e
      WHERE e.run_id = ANY ($1)
      GROUP BY e.run_id
    )
    SELECT r.run_id AS run, planned.actor AS "plannedBy", planned.via AS "plannedHow", r.rates ->> 'currency' AS currency,
           coalesce(doubts.requests, 0) AS "requestsInDoubt",
           CASE WHEN booked.run_id IS NOT NULL
                THEN json_build_object('price', booked.price::text, 'estimated', booked.estimated::text) END AS cost
    FROM runs r
    LEFT JOIN doubts USING (run_id)
    LEFT JOIN booked USING (run_id)
    LEFT JOIN LATERAL (
      SELECT actor, via FROM audit a WHERE a.run_id = r.run_id AND a.action = $2 ORDER BY entry LIMIT 1
    ) planned ON true
    WHERE r.run_id = ANY ($1)
    `,
    [runs, planned],
  );
  return new Map(rows.map(({ run, ...figures }) => [run, figures]));
}

/** Runs with requests in doubt, as booked: some seconds old. `billing_entries_unknown` finds them. */
export async function listRunsInDoubt(client: Connection, limit: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ run: string }>(
    `
    SELECT r.run_id AS run
    FROM runs r
    WHERE r.run_id IN (SELECT e.run_id FROM billing_entries e WHERE e.unknown <> 0)
      AND EXISTS (SELECT FROM requests q WHERE q.run_id = r.run_id AND q.state = 'in_doubt')
    ORDER BY r.created_at DESC
    LIMIT $1
    `,
    [limit],
  );
  return rows.map(({ run }) => run);
}

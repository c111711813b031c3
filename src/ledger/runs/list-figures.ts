import type { AuditAction, AuditInterface } from '../../domain/access.ts';
import type { Connection } from '../session.ts';

/** What a list of runs shows of one, besides its progress. Money is exact decimals, as text. */
export type ListFigures = {
  /** Null in a ledger that was restored without its audit trail. */
  readonly plannedBy: string | null;
  readonly plannedHow: AuditInterface | null;
  readonly currency: string | null;
  /** As booked. Null: nothing is booked yet. */
  readonly cost: {
    /** Of delivery reports. */
    readonly price: string;
    /** Without tax. */
    readonly estimated: string;
  } | null;
};

const planned: AuditAction = 'run planned';

export async function readListFigures(
  client: Connection,
  runs: readonly string[],
): Promise<ReadonlyMap<string, ListFigures>> {
  const { rows } = await client.query<ListFigures & { readonly run: string }>(
    `
    SELECT r.run_id AS run, planned.actor AS "plannedBy", planned.via AS "plannedHow", r.rates ->> 'currency' AS currency,
           CASE WHEN c.run_id IS NOT NULL
                THEN json_build_object('price', c.price::text, 'estimated', c.estimated::text) END AS cost
    FROM runs r
    LEFT JOIN run_costs c ON c.run_id = r.run_id AND c.by = 'run'
    LEFT JOIN LATERAL (
      SELECT actor, via FROM audit a WHERE a.run_id = r.run_id AND a.action = $2 ORDER BY entry LIMIT 1
    ) planned ON true
    WHERE r.run_id = ANY ($1)
    `,
    [runs, planned],
  );
  return new Map(rows.map(({ run, ...figures }) => [run, figures]));
}

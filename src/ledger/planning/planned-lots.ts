import type { Transaction } from '../session.ts';
import { destinationOf, largestDestinations } from '../watch/destinations.ts';
import { isCanary } from './canary.ts';

/** Staged contacts that are sent in the same windows, as a canary or after it. */
export type PlannedLot = {
  /** Null: no window. */
  readonly zones: string | null;
  readonly isCanary: boolean;
  readonly destinations: readonly {
    /** Empty: all small ones together. */
    readonly destination: string;
    readonly recipients: number;
  }[];
};

/** Reads what was decided, in request order. */
export async function readPlannedLots(client: Transaction): Promise<PlannedLot[]> {
  const { rows } = await client.query<PlannedLot>(`
    WITH placed AS MATERIALIZED (
      SELECT e.zones, ${isCanary('s.envelope')} AS is_canary, ${destinationOf('s.address')} AS destination,
             count(*) AS recipients
      FROM staged_contacts s
      JOIN staged_envelopes e USING (envelope)
      GROUP BY 1, 2, 3
    ), named AS (${largestDestinations}
    ), counted AS (
      SELECT zones, is_canary, coalesce(n.destination, '') AS destination, sum(p.recipients)::integer AS recipients
      FROM placed p
      LEFT JOIN named n USING (destination)
      GROUP BY 1, 2, 3
    ), sized AS (
      SELECT e.zones, ${isCanary('z.staged')} AS is_canary, min(z.requests_before) AS first
      FROM sized_envelopes z
      JOIN staged_envelopes e ON e.envelope = z.staged
      GROUP BY 1, 2
    )
    SELECT z.zones, z.is_canary AS "isCanary",
           json_agg(json_build_object('destination', c.destination, 'recipients', c.recipients) ORDER BY c.destination)
             AS destinations
    FROM sized z
    JOIN counted c ON c.is_canary = z.is_canary AND c.zones IS NOT DISTINCT FROM z.zones
    GROUP BY z.zones, z.is_canary, z.first
    ORDER BY z.first
  `);
  return rows;
}

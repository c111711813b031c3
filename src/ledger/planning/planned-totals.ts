import type { CostTotal, RunRates } from '../../domain/rate-card.ts';
import type { Connection } from '../session.ts';

/**
 * Sums what a run was planned to send, by payer and tariff, as `checkPlan` got it. Reads every recipient: a second for
 * a million. What a purge has erased is not counted.
 */
export async function sumPlannedRun(client: Connection, run: string): Promise<CostTotal[]> {
  const { rows } = await client.query<CostTotal>(
    `
    SELECT e.sub_account AS "subAccount", e.charge_code AS "chargeCode", s.tariff AS "tariffIndex",
           sum(s.recipients)::integer AS recipients, sum(s.parts)::float8 AS parts, min(s.address) AS example
    FROM (
      SELECT c.run_id, c.envelopes[r.request_offset + 1] AS envelope, coalesce(r.tariff, 0) AS tariff,
             count(*) AS recipients, sum(r.parts) AS parts, min(r.address) AS address
      FROM contents c
      CROSS JOIN LATERAL unnest(c.request_offsets, c.addresses, c.parts, c.tariffs)
        AS r (request_offset, address, parts, tariff)
      WHERE c.run_id = $1
      GROUP BY 1, 2, 3
    ) s
    JOIN envelopes e USING (run_id, envelope)
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    `,
    [run],
  );
  return rows;
}

/** A sending window of a planned run. */
export type WindowOfRun = {
  readonly zones: readonly string[];
  readonly opensAt: Date | null;
  readonly closesAt: Date | null;
  readonly sendAt: Date | null;
  readonly requests: number;
};

/** Lists windows in the order in which they open. */
export async function listPlannedWindows(client: Connection, run: string): Promise<WindowOfRun[]> {
  const { rows } = await client.query<WindowOfRun>(
    `
    SELECT w.zones, w.opens_at AS "opensAt", w.closes_at AS "closesAt", w.send_at AS "sendAt",
           sum(s.last_request - s.first_request + 1)::integer AS requests
    FROM run_windows w
    JOIN slices s USING (run_id, window_index)
    WHERE w.run_id = $1
    GROUP BY w.run_id, w.window_index
    ORDER BY w.opens_at NULLS FIRST, w.window_index
    `,
    [run],
  );
  return rows;
}

/** What a run had when it was planned. */
export type PlannedHead = {
  /** Null: the account had no rates for the channel. */
  readonly rates: RunRates | null;
  readonly contactsRead: number;
  readonly requests: number;
};

export async function readPlannedHead(client: Connection, run: string): Promise<PlannedHead> {
  const { rows } = await client.query<PlannedHead>(
    `
    SELECT rates, contacts_read AS "contactsRead",
           coalesce((SELECT max(last_request) FROM slices s WHERE s.run_id = r.run_id), 0) AS requests
    FROM runs r
    WHERE run_id = $1
    `,
    [run],
  );
  return rows[0] ?? { rates: null, contactsRead: 0, requests: 0 };
}

import type { CostTotal, RunRates } from '../../domain/rate-card.ts';
import type { Connection } from '../session.ts';
import type { PlannedCanary } from './canary.ts';

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

/** What goes first of a planned run. @returns null: nothing does */
export async function readCanaryOfRun(client: Connection, run: string): Promise<PlannedCanary | null> {
  const { rows } = await client.query<PlannedCanary>(
    `
    SELECT sum(recipients)::integer AS recipients, sum(requests)::integer AS requests,
           json_agg(json_build_object('first', first, 'last', last) ORDER BY first) AS ranges
    FROM (
      SELECT min(s.first_request) AS first, max(s.last_request) AS last, count(*) AS requests, sum(q.recipients) AS recipients
      FROM slices s
      CROSS JOIN LATERAL requests_between(s.run_id, s.first_request, s.last_request) q
      WHERE s.run_id = $1 AND s.is_canary
      GROUP BY s.window_index
    ) part
    HAVING count(*) > 0
    `,
    [run],
  );
  return rows[0] ?? null;
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

import type { Transaction } from '../session.ts';

/** Recipients with a delivery report, of a destination ('': all small ones) in the canary or the rest of a run. */
export type ReportedAt = {
  readonly destination: string;
  readonly isCanary: boolean;
  readonly delivered: number;
  readonly undelivered: number;
};

/** Adds up what triggers have counted of a watched run: some hundred rows. */
export async function readReported(
  client: Transaction,
  run: string,
): Promise<{ readonly at: readonly ReportedAt[]; readonly otherPrices: number }> {
  const { rows } = await client.query<ReportedAt & { readonly otherPrices: number }>(
    `
    SELECT destination, is_canary AS "isCanary",
           coalesce(sum(recipients) FILTER (WHERE outcome = 'delivered'), 0)::integer AS delivered,
           coalesce(sum(recipients) FILTER (WHERE outcome = 'undelivered'), 0)::integer AS undelivered,
           coalesce(sum(recipients) FILTER (WHERE outcome = 'other price'), 0)::integer AS "otherPrices"
    FROM watched_counts
    WHERE run_id = $1
    GROUP BY destination, is_canary
    `,
    [run],
  );
  return {
    at: rows.map(({ otherPrices: _, ...at }) => at),
    otherPrices: rows.reduce((sum, { otherPrices }) => sum + otherPrices, 0),
  };
}

export type SentAt = Pick<ReportedAt, 'destination' | 'isCanary'> & { readonly sent: number };

/** The last counted request of a slice. */
export type CountedTo = { readonly slice: number; readonly request: number };

/**
 * Counts recipients that were claimed since the last look, by destination: each is counted once in its run, also if its
 * request is divided. An operator's cancellation or a rejection does not subtract any.
 */
export async function countNewlySent(
  client: Transaction,
  run: string,
  counted: readonly CountedTo[],
): Promise<{ readonly sent: readonly SentAt[]; readonly countedTo: readonly CountedTo[] }> {
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<{
    readonly sent: readonly SentAt[] | null;
    readonly countedTo: readonly CountedTo[] | null;
  }>(
    `
    WITH RECURSIVE begun AS MATERIALIZED (
      SELECT s.slice, s.is_canary, coalesce(k.request + 1, s.first_request) AS first, s.claimed_to AS last
      FROM slices s
      LEFT JOIN unnest($2::integer[], $3::integer[]) AS k (slice, request) USING (slice)
      WHERE s.run_id = $1 AND s.phase = 'sending' AND s.claimed_to >= s.first_request
        AND NOT EXISTS (
          SELECT FROM requests q
          WHERE q.run_id = $1 AND q.request = s.first_request AND q.divided_from IS NOT NULL
        )
    ), newly AS (
      SELECT first, last, is_canary FROM begun WHERE last >= first
      UNION ALL
      -- What a division has moved to other requests, whose slices are not counted.
      SELECT q.request, q.request, n.is_canary
      FROM newly n
      JOIN requests q ON q.run_id = $1 AND q.divided_from BETWEEN n.first AND n.last
    ), place AS (
      SELECT CASE WHEN destination = ANY (w.destinations) THEN destination ELSE '' END AS destination,
             is_canary AS "isCanary", sum(recipients)::integer AS sent
      FROM (
        SELECT destination_of(r.address) AS destination, n.is_canary, count(*) AS recipients
        FROM newly n
        CROSS JOIN LATERAL recipients_between($1, n.first, n.last) r
        GROUP BY 1, 2
      ) n
      JOIN run_watches w ON w.run_id = $1
      GROUP BY 1, 2
    )
    SELECT (SELECT json_agg(place) FROM place) AS sent,
           (SELECT json_agg(json_build_object('slice', slice, 'request', last)) FROM begun) AS "countedTo"
    `,
    [run, counted.map(({ slice }) => slice), counted.map(({ request }) => request)],
  );
  return { sent: rows[0]?.sent ?? [], countedTo: rows[0]?.countedTo ?? [] };
}

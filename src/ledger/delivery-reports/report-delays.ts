import type { ReadConnection } from '../session.ts';

/** The first requests of a run are sample enough. */
const sampledRequests = 100;

/**
 * Reads how long after its acceptance a recipient had its delivery report: ten quantiles, from 5 % to 95 %, in
 * milliseconds.
 *
 * @returns undefined if the sample has no report
 */
export async function readReportDelays(
  client: ReadConnection,
  runs: readonly string[],
): Promise<readonly number[] | undefined> {
  const { rows } = await client.query<{ readonly delays: readonly number[] | null }>(
    `
    SELECT percentile_cont(ARRAY[0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95])
             WITHIN GROUP (ORDER BY greatest(0, extract(epoch FROM of_run.reported_at - of_run.updated_at) * 1000)) AS delays
    FROM unnest($1::text[]) AS sampled (run)
    CROSS JOIN LATERAL (
      SELECT o.reported_at, q.updated_at
      FROM recipient_outcomes_between(sampled.run, 1, ${sampledRequests}) o
      JOIN requests_between(sampled.run, 1, ${sampledRequests}) q USING (request)
      WHERE q.state = 'accepted' AND o.outcome IN ('delivered', 'undelivered')
    ) of_run
    `,
    [runs],
  );
  return rows[0]?.delays ?? undefined;
}

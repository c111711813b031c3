import type { ReadConnection } from '../session.ts';

/** The first requests of a run are sample enough. */
const sampledRequests = 100;

/**
 * Reads how long after its acceptance a recipient had its delivery report: half of them, and 95 % (milliseconds).
 *
 * @returns undefined if the sample has no report
 */
export async function readReportDelay(
  client: ReadConnection,
  runs: readonly string[],
): Promise<{ readonly half: number; readonly most: number } | undefined> {
  const { rows } = await client.query<{ readonly half: number | null; readonly most: number | null }>(
    `
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY delay) AS half,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY delay) AS most
    FROM unnest($1::text[]) AS sampled (run)
    CROSS JOIN LATERAL (
      SELECT CAST(greatest(0, extract(epoch FROM o.reported_at - q.updated_at) * 1000) AS float8) AS delay
      FROM recipient_outcomes_between(sampled.run, 1, ${sampledRequests}) o
      JOIN requests_between(sampled.run, 1, ${sampledRequests}) q USING (request)
      WHERE q.state = 'accepted' AND o.outcome IN ('delivered', 'undelivered')
    ) of_run
    `,
    [runs],
  );
  const { half = null, most = null } = rows[0] ?? {};
  return half === null || most === null ? undefined : { half, most };
}

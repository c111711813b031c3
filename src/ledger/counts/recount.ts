import type { Connection } from '../session.ts';

/** A count that differs from what the requests and outcomes of the run are. Requests, and their recipients. */
export type WrongCount = {
  /** As in `run_counts`. */
  readonly counted: string;
  readonly kept: readonly [number, number];
  readonly found: readonly [number, number];
};

/** Counts the requests, recipients and outcomes of a run anew: a million of each take some seconds. */
export async function findWrongCounts(client: Connection, run: string): Promise<readonly WrongCount[]> {
  const { rows } = await client.query<WrongCount>(
    `
    SELECT counted, json_build_array(coalesce(k.requests, 0), coalesce(k.recipients, 0)) AS kept,
           json_build_array(coalesce(f.requests, 0), coalesce(f.recipients, 0)) AS found
    FROM (
      SELECT counted, sum(requests) AS requests, sum(recipients) AS recipients
      FROM (
        SELECT counted, requests, recipients FROM run_counts WHERE run_id = $1
        UNION ALL
        SELECT 'accepted', accepted, accepted_recipients FROM slices WHERE run_id = $1
      ) each
      GROUP BY counted
    ) k
    FULL JOIN recount_run($1) f USING (counted)
    WHERE coalesce(k.requests, 0) <> coalesce(f.requests, 0) OR coalesce(k.recipients, 0) <> coalesce(f.recipients, 0)
    ORDER BY counted
    `,
    [run],
  );
  return rows;
}

/** Lists ids, the newest run first, without those whose records are deleted. */
export async function listNewestRuns(client: Connection, limit: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ run: string }>(
    'SELECT run_id AS run FROM runs WHERE records_deleted_at IS NULL ORDER BY created_at DESC LIMIT $1',
    [limit],
  );
  return rows.map(({ run }) => run);
}

import type { ReadConnection } from '../session.ts';

/** What a search for recipients can find. */
export type SearchedRuns = {
  /** When the oldest run was planned that still has its recipients; null: there is none. */
  readonly since: Date | null;
  /** Runs whose recipients are erased, and when the last ones were. */
  readonly purged: number;
  readonly lastPurge: Date | null;
  /** Of numbers without a country code, in the campaigns of the runs; that of the newest run first. */
  readonly countries: readonly string[];
};

/** @param accounts of the runs; null: all */
export async function readSearchedRuns(
  client: ReadConnection,
  accounts: readonly string[] | null,
): Promise<SearchedRuns> {
  const { rows } = await client.query<SearchedRuns>(
    `
    WITH own AS (
      SELECT created_at, purged_at, definition #>> '{contacts,country}' AS country
      FROM runs
      WHERE $1::text[] IS NULL OR account = ANY ($1)
    )
    SELECT min(created_at) FILTER (WHERE purged_at IS NULL) AS since, count(purged_at)::integer AS purged,
           max(purged_at) AS "lastPurge",
           ARRAY(SELECT country FROM own WHERE country <> '' GROUP BY country ORDER BY max(created_at) DESC) AS countries
    FROM own
    `,
    [accounts],
  );
  return rows[0] ?? { since: null, purged: 0, lastPurge: null, countries: [] };
}

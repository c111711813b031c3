import { formerRuns } from '../counts/run-outcome.ts';
import type { ReadConnection } from '../session.ts';

/** Undelivered recipients (`events`) of those with a delivery report (`trials`). */
type ReportedShare = { readonly events: number; readonly trials: number };

/** Where it is known from: runs of the campaign, or of its account. */
export const usualSources = ['campaign', 'account'] as const;

/** What is usual for a run: of its campaign if that was sent before, else of its account. */
export type UsualOutcome = {
  readonly source: (typeof usualSources)[number];
  /** How many runs were counted. */
  readonly runs: number;
  readonly whole: ReportedShare;
  /** By destination, of former runs that were watched. */
  readonly at: Readonly<Record<string, ReportedShare>>;
};

/** The run that is to be compared, or one that would be planned now. */
export type ComparedRun = {
  readonly campaign: string;
  readonly account: string;
  readonly channel: string;
  readonly createdAt: Date;
  /** Empty: not planned yet. */
  readonly run: string;
};

/** Older runs of the account do not say what is usual (days). */
const lookedBack = 90;

/** Runs of the account, the newest ones. */
const accountRuns = 20;

/**
 * Adds up kept counts, never outcomes: of the five former runs of the campaign, else of the account's last ones in this
 * channel.
 *
 * @returns undefined: none of them has a delivery report
 */
export async function readUsual(
  client: ReadConnection,
  { campaign, account, channel, createdAt, run }: ComparedRun,
): Promise<UsualOutcome | undefined> {
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<UsualOutcome>(
    `
    WITH former AS MATERIALIZED (
      ${formerRuns({ campaign: '$1', account: '$2', createdAt: '$4::timestamptz', run: '$5' })}
    ), source AS MATERIALIZED (
      SELECT run_id, 'campaign' AS source FROM former
      UNION ALL
      SELECT *
      FROM (
        SELECT run_id, 'account'
        FROM runs
        WHERE account = $2 AND channel = $3 AND kind = 'ordinary' AND state = 'completed'
          AND created_at < $4 AND created_at >= $4 - make_interval(days => ${lookedBack}) AND NOT EXISTS (SELECT FROM former)
        ORDER BY created_at DESC
        LIMIT ${accountRuns}
      ) of_account
    ), reported AS (
      SELECT sum(recipients) FILTER (WHERE counted = 'undelivered') AS undelivered, sum(recipients) AS reported
      FROM source
      JOIN run_counts USING (run_id)
      WHERE counted IN ('delivered', 'undelivered')
    ), destination AS (
      SELECT destination, sum(recipients) FILTER (WHERE outcome = 'undelivered') AS undelivered, sum(recipients) AS reported
      FROM former
      JOIN watched_counts USING (run_id)
      WHERE outcome IN ('delivered', 'undelivered') AND destination <> ''
      GROUP BY destination
      HAVING sum(recipients) > 0
    )
    SELECT min(s.source) AS source, count(*)::integer AS runs,
           json_build_object('events', coalesce(min(r.undelivered), 0), 'trials', min(r.reported)) AS whole,
           (
             SELECT coalesce(json_object_agg(
                      destination, json_build_object('events', coalesce(undelivered, 0), 'trials', reported)
                    ), '{}')
             FROM destination
           ) AS at
    FROM source s
    CROSS JOIN reported r
    WHERE r.reported > 0
    HAVING count(*) > 0
    `,
    [campaign, account, channel, createdAt, run],
  );
  return rows[0];
}

/** What is usual for a planned run. */
export async function readUsualOf(client: ReadConnection, run: string): Promise<UsualOutcome | undefined> {
  const { rows } = await client.query<ComparedRun>(
    'SELECT campaign, account, channel, created_at AS "createdAt", run_id AS run FROM runs WHERE run_id = $1',
    [run],
  );
  return rows[0] && readUsual(client, rows[0]);
}

import type pg from 'pg';

/** The last calls of the webhook that are read to see how fast they arrive. */
const maxRecent = 2_000;

export type Arrivals = {
  readonly account: string;
  /** Of the last `seconds`. */
  readonly reports: number;
  /** A minute, or less when more calls than `maxRecent` arrived in it. */
  readonly seconds: number;
  readonly last: Date;
};

/** Lists the accounts of the last calls. 2,000 are read by key in 2 ms, however many there are. */
export async function readArrivals(
  pool: pg.Pool,
  accounts: readonly string[] | null,
  now: Date,
): Promise<Arrivals[]> {
  const { rows } = await pool.query<Arrivals>(
    `
    WITH recent AS MATERIALIZED (
      SELECT c.account, c.received_at
      FROM (SELECT accounts, received_at FROM inbox_blocks ORDER BY first_report DESC LIMIT ${maxRecent}) b
      CROSS JOIN LATERAL unnest(b.accounts, b.received_at) AS c (account, received_at)
      LIMIT ${maxRecent}
    ), span AS (
      SELECT greatest($1::timestamptz - interval '1 minute', min(received_at) FILTER (WHERE is_full)) AS since
      FROM recent, (SELECT count(*) = ${maxRecent} AS is_full FROM recent) counted
    )
    SELECT account, (count(*) FILTER (WHERE received_at >= since))::integer AS reports,
           greatest(1, extract(epoch FROM $1 - since))::double precision AS seconds, max(received_at) AS last
    FROM recent, span
    WHERE $2::text[] IS NULL OR account = ANY ($2)
    GROUP BY account, since
    ORDER BY account
    `,
    [now, accounts],
  );
  return rows;
}

/** SQL: when the last call of any account arrived; null: none has. */
const lastArrival = `
  coalesce((SELECT last_received_at FROM inbox_blocks ORDER BY first_report DESC LIMIT 1),
           (SELECT received_at FROM inbox ORDER BY report_id DESC LIMIT 1))`;

/** @returns null if none has ever arrived */
export async function readLastArrival(pool: pg.Pool): Promise<Date | null> {
  const { rows } = await pool.query<{ at: Date | null }>(`SELECT ${lastArrival} AS at`);
  return rows[0]?.at ?? null;
}

export type RunMissing = {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  /** Start of the quarter of an hour in which the first of them was sent. */
  readonly oldest: Date;
  readonly missing: number;
};

export type AccountMissing = {
  readonly account: string;
  /** By age: in the order of the bounds, each up to the next bound. */
  readonly missing: readonly number[];
};

/**
 * SQL: accepted recipients without a final delivery report, by run and quarter of an hour, as billing counts them; sent
 * at $1 or later. $2: accounts; null: all. `booked` is never before `sent`, so its index finds the entries.
 */
const unreported = (entries: 'billing_entries' | 'all_entries'): string => `(
  SELECT r.run_id, r.campaign, r.account, e.sent, sum(e.accepted - e.delivered - e.undelivered)::integer AS missing
  FROM ${entries} e
  JOIN runs r USING (run_id)
  WHERE e.booked >= $1 AND e.sent >= $1 AND r.purged_at IS NULL AND r.kind = 'ordinary'
    AND ($2::text[] IS NULL OR r.account = ANY ($2))
  GROUP BY r.run_id, e.sent
  HAVING sum(e.accepted - e.delivered - e.undelivered) > 0
) unreported`;

/** @param bounds from the oldest to the newest; nothing older than the first counts */
export async function countMissingByAge(
  pool: pg.Pool,
  accounts: readonly string[] | null,
  bounds: readonly Date[],
): Promise<AccountMissing[]> {
  const { rows } = await pool.query<AccountMissing>(
    `
    SELECT account, array_agg(missing ORDER BY bound) AS missing
    FROM (
      SELECT account, bound, coalesce(sum(missing) FILTER (WHERE width_bucket(sent, $3::timestamptz[]) = bound), 0)::integer AS missing
      FROM ${unreported('billing_entries')}, generate_series(1, cardinality($3::timestamptz[])) AS bound
      GROUP BY account, bound
    ) by_age
    GROUP BY account
    ORDER BY account
    `,
    [bounds[0], accounts, bounds],
  );
  return rows;
}

/** Lists the run that was sent last first. */
export async function listRunsWithMissing(
  pool: pg.Pool,
  { accounts, from, until }: { accounts: readonly string[] | null; from: Date; until: Date },
  { skip, limit }: { skip: number; limit: number },
): Promise<RunMissing[]> {
  const { rows } = await pool.query<RunMissing>(
    `
    SELECT run_id AS run, campaign, account, min(sent) AS oldest, sum(missing)::integer AS missing
    FROM ${unreported('billing_entries')}
    WHERE sent < $3
    GROUP BY run_id, campaign, account
    ORDER BY max(sent) DESC, run_id DESC
    LIMIT $4 OFFSET $5
    `,
    [from, accounts, until, limit, skip],
  );
  return rows;
}

/** A run whose unsent requests the service reports on, as booked. */
export type RunReportedUnsent = {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  readonly recipients: number;
};

/** Lists the latest run first. The index `billing_entries_unsent` has nothing else. */
export async function listRunsReportedUnsent(
  pool: pg.Pool,
  accounts: readonly string[] | null,
  since: Date,
  limit: number,
): Promise<RunReportedUnsent[]> {
  const { rows } = await pool.query<RunReportedUnsent>(
    `
    SELECT r.run_id AS run, r.campaign, r.account, sum(e.unsent_delivered + e.unsent_undelivered)::integer AS recipients
    FROM billing_entries e
    JOIN runs r USING (run_id)
    WHERE e.booked >= $1 AND (e.unsent_delivered <> 0 OR e.unsent_undelivered <> 0)
      AND ($2::text[] IS NULL OR r.account = ANY ($2))
    GROUP BY r.run_id
    HAVING sum(e.unsent_delivered + e.unsent_undelivered) > 0
    ORDER BY max(e.booked) DESC, r.run_id DESC
    LIMIT $3
    `,
    [since, accounts, limit],
  );
  return rows;
}

export type MissingReports = {
  readonly account: string;
  /** Accepted recipients without a final delivery report. */
  readonly missing: number;
  /** Start of the quarter of an hour in which the first of them was sent. */
  readonly oldest: Date;
  /** When the last delivery report of any account arrived. */
  readonly lastReport: Date | null;
};

/**
 * Adds up all entries, booked or not: `listMissing` reads every recipient.
 *
 * @param from recipients sent at this time or later, and before `until`
 */
export async function countMissingReports(pool: pg.Pool, from: Date, until: Date): Promise<MissingReports[]> {
  const { rows } = await pool.query<MissingReports>(
    `
    SELECT account, sum(missing)::integer AS missing, min(sent) AS oldest,
           ${lastArrival} AS "lastReport"
    FROM ${unreported('all_entries')}
    WHERE sent < $3
    GROUP BY account
    ORDER BY account
    `,
    [from, null, until],
  );
  return rows;
}

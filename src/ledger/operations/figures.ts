import type pg from 'pg';
import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import type { RunPhase } from '../../domain/runs.ts';
import type { Connection } from '../session.ts';

/** Figures of the fleet, from small tables or partial indexes. */
export type LedgerFigures = {
  /** Slices that are not done, of runs that are not over. */
  readonly slices: readonly SliceCount[];
  readonly openBreakers: readonly OpenBreaker[];
  readonly inbox: InboxFigures;
  readonly undecided: UndecidedReports;
  /** Recipients of requests in doubt or abandoned. */
  readonly unknownRecipients: number;
  /** Ticks that started no run, in total. */
  readonly ticks: { readonly missed: number; readonly failed: number };
  /** Unsent notifications: overdue after several attempts, and given up in total. */
  readonly notifications: { readonly overdue: number; readonly givenUp: number };
  readonly schedules: readonly unknown[];
};

export type SliceCount = {
  readonly account: string;
  readonly phase: RunPhase;
  readonly state: 'waiting' | 'queued' | 'held';
  readonly slices: number;
};

export type OpenBreaker = { readonly account: string; readonly seconds: number };

export type InboxFigures = {
  /** Seconds since the oldest delivery report was due. */
  readonly lag: number;
  readonly due: number;
  /** Unmatched delivery reports, which are retried later. */
  readonly later: number;
  readonly failed: number;
};

/** Calls of the last 30 days that were answered 200 and decided nothing: each up to 10,000. */
export type UndecidedReports = { readonly unreadable: number; readonly unmatched: number };

/** Reads the figures one after the other, so that a scrape uses one connection. */
export async function readFigures(pool: pg.Pool, now: Date): Promise<LedgerFigures> {
  const slices = await countSlices(pool);
  const openBreakers = await listOpenBreakers(pool);
  const inbox = await readInboxFigures(pool, now);
  const undecided = await countUndecidedReports(pool, now);
  const unknownRecipients = await countUnknownRecipients(pool);
  const ticks = await countTicks(pool);
  const notifications = await countNotifications(pool, now);
  const { rows } = await pool.query<{ times: unknown }>('SELECT times FROM schedules WHERE active');
  return {
    slices,
    openBreakers,
    inbox,
    undecided,
    unknownRecipients,
    ticks,
    notifications,
    schedules: rows.map(({ times }) => times),
  };
}

/** The index `runs_unfinished` finds the runs. */
async function countSlices(pool: pg.Pool): Promise<SliceCount[]> {
  const { rows } = await pool.query<SliceCount>(
    `
    SELECT r.account, s.phase, s.state, count(*)::integer AS slices
    FROM runs r
    JOIN slices s USING (run_id)
    WHERE r.state IN ('planned', 'running', 'paused') AND s.state <> 'done'
      AND (s.phase = 'sending' OR s.state <> 'waiting')
    GROUP BY r.account, s.phase, s.state
    `,
  );
  return rows;
}

/**
 * Lists open breakers of accounts with a running run. For other accounts no process asks the service, so what it
 * does now is not known. Uses the clock of Postgres, as breakers do.
 */
async function listOpenBreakers(pool: pg.Pool): Promise<OpenBreaker[]> {
  const { rows } = await pool.query<OpenBreaker>(
    `
    SELECT account, greatest(0, extract(epoch FROM clock_timestamp() - opened_at))::float8 AS seconds
    FROM account_breakers
    WHERE account IN (SELECT account FROM runs WHERE state = 'running')
    ORDER BY account
    `,
  );
  return rows;
}

/** SQL: failed delivery reports, by `reports_to_look_at`. */
const failedReports = `SELECT count(*)::integer FROM unusual_delivery_reports WHERE state = 'failed'`;

/** Seconds for which a delivery report may be due. */
export const maxInboxLag = 60;

/**
 * Counts delivery reports that are not applied in time, and those that failed: the dead letters. Ordinarily there are
 * none, which takes a look into each of two indexes (`inbox_queue_due`).
 */
export async function findUnappliedReports(client: Connection, now: Date): Promise<UnappliedReports> {
  const { rows } = await client.query<UnappliedReports>(
    `
    SELECT coalesce(sum(cardinality(report_ids)), 0)::integer AS waiting, min(due_at) AS since,
           (${failedReports}) AS failed
    FROM inbox_queue
    WHERE due_at < $1
    `,
    [new Date(now.getTime() - maxInboxLag * 1_000)],
  );
  return rows[0] ?? { waiting: 0, since: null, failed: 0 };
}

/** Sums the rows of the inbox queue. Each is a committed batch: 100,000 are read in 25 ms. */
export async function readInboxFigures(pool: pg.Pool, now: Date): Promise<InboxFigures> {
  const { rows } = await pool.query<InboxFigures>(
    `
    SELECT coalesce(extract(epoch FROM $1 - min(due_at) FILTER (WHERE due_at <= $1)), 0)::double precision AS lag,
           coalesce(sum(cardinality(report_ids)) FILTER (WHERE due_at <= $1), 0)::integer AS due,
           coalesce(sum(cardinality(report_ids)) FILTER (WHERE due_at > $1), 0)::integer AS later,
           (${failedReports}) AS failed
    FROM inbox_queue
    `,
    [now],
  );
  return rows[0] ?? { lag: 0, due: 0, later: 0, failed: 0 };
}

const maxUndecided = 10_000;
const undecidedSince = 30 * 86_400_000;

/** Counts the last delivery reports of each state, with the index `unusual_delivery_reports_unresolved`. */
async function countUndecidedReports(pool: pg.Pool, now: Date): Promise<UndecidedReports> {
  const lastOf = (state: keyof UndecidedReports): string => `(
    SELECT (count(*) FILTER (WHERE received_at >= $1))::integer
    FROM (
      SELECT received_at FROM unusual_delivery_reports
      WHERE state = '${state}'
      ORDER BY report_id DESC
      LIMIT ${maxUndecided}
    ) last
  )`;
  const { rows } = await pool.query<UndecidedReports>(
    `SELECT ${lastOf('unreadable')} AS unreadable, ${lastOf('unmatched')} AS unmatched`,
    [new Date(now.getTime() - undecidedSince)],
  );
  return rows[0] ?? { unreadable: 0, unmatched: 0 };
}

/** The index `run_counts_unknown` finds them. */
async function countUnknownRecipients(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ unknown: number }>(
    `SELECT coalesce(sum(recipients), 0)::integer AS unknown FROM run_counts WHERE counted IN ('in_doubt', 'abandoned')`,
  );
  return rows[0]?.unknown ?? 0;
}

/** Counts recipients of requests in doubt, without abandoned ones: an operator has decided about those. */
export async function countRecipientsInDoubt(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ recipients: number }>(
    `SELECT coalesce(sum(recipients), 0)::integer AS recipients FROM run_counts WHERE counted = 'in_doubt'`,
  );
  return rows[0]?.recipients ?? 0;
}

async function countTicks(pool: pg.Pool): Promise<LedgerFigures['ticks']> {
  const { rows } = await pool.query<LedgerFigures['ticks']>(
    `
    SELECT (count(*) FILTER (WHERE state = 'missed'))::integer AS missed,
           (count(*) FILTER (WHERE state = 'failed'))::integer AS failed
    FROM ticks
    WHERE state IN ('missed', 'failed')
    `,
  );
  return rows[0] ?? { missed: 0, failed: 0 };
}

const overdueAfter = 5 * 60_000;

/** Few rows match, and the indexes `notifications_due` and `notifications_given_up` find them. */
async function countNotifications(pool: pg.Pool, now: Date): Promise<LedgerFigures['notifications']> {
  const { rows } = await pool.query<LedgerFigures['notifications']>(
    `
    SELECT (SELECT count(*)::integer FROM notifications WHERE state = 'due' AND created_at < $1) AS overdue,
           (SELECT count(*)::integer FROM notifications WHERE state = 'given up') AS "givenUp"
    `,
    [new Date(now.getTime() - overdueAfter)],
  );
  return rows[0] ?? { overdue: 0, givenUp: 0 };
}

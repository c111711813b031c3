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
  /** Of them, those of requests in doubt: an operator has decided about the others. */
  readonly recipientsInDoubt: number;
  /** Ticks that started no run, in total. */
  readonly ticks: { readonly missed: number; readonly failed: number };
  /** Unsent notifications: overdue after several attempts, and given up in total. */
  readonly notifications: { readonly overdue: number; readonly givenUp: number };
  readonly schedules: readonly unknown[];
};

export type SliceCount = {
  readonly account: string;
  readonly phase: RunPhase;
  readonly state: 'unpromoted' | 'waiting' | 'queued' | 'held';
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

type Totals = Omit<LedgerFigures, 'slices' | 'openBreakers' | 'inbox' | 'undecided'>;

/** Reads the figures one after the other, so that a scrape uses one connection. */
export async function readFigures(pool: pg.Pool, now: Date): Promise<LedgerFigures> {
  const slices = await countSlices(pool);
  const openBreakers = await listOpenBreakers(pool);
  const inbox = await readInboxFigures(pool, now);
  const undecided = await countUndecidedReports(pool, now);
  const totals = await readTotals(pool, now);
  return { slices, openBreakers, inbox, undecided, ...totals };
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
 * none, which takes a look into each of two indexes (`inbox_waiting_due`).
 */
export async function findUnappliedReports(client: Connection, now: Date): Promise<UnappliedReports> {
  const { rows } = await client.query<UnappliedReports>(
    `
    SELECT coalesce(sum(calls), 0)::integer AS waiting, min(due_at) AS since,
           (${failedReports}) AS failed
    FROM inbox_waiting
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
           coalesce(sum(calls) FILTER (WHERE due_at <= $1), 0)::integer AS due,
           coalesce(sum(calls) FILTER (WHERE due_at > $1), 0)::integer AS later,
           (${failedReports}) AS failed
    FROM inbox_waiting
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

const overdueAfter = 5 * 60_000;

/** The indexes `run_counts_unknown`, `notifications_due` and `notifications_given_up` find the few rows that match. */
async function readTotals(pool: pg.Pool, now: Date): Promise<Totals> {
  const { rows } = await pool.query<Totals>(
    `
    SELECT u.*,
           (
             SELECT json_build_object('missed', count(*) FILTER (WHERE state = 'missed'),
                                      'failed', count(*) FILTER (WHERE state = 'failed'))
             FROM ticks
             WHERE state IN ('missed', 'failed')
           ) AS ticks,
           json_build_object(
             'overdue', (SELECT count(*) FROM notifications WHERE state = 'due' AND created_at < $1),
             'givenUp', (SELECT count(*) FROM notifications WHERE state = 'given up')
           ) AS notifications,
           (SELECT coalesce(json_agg(times), '[]') FROM schedules WHERE active) AS schedules
    FROM (
      SELECT coalesce(sum(recipients), 0)::integer AS "unknownRecipients",
             coalesce(sum(recipients) FILTER (WHERE counted = 'in_doubt'), 0)::integer AS "recipientsInDoubt"
      FROM run_counts
      WHERE counted IN ('in_doubt', 'abandoned')
    ) u
    `,
    [new Date(now.getTime() - overdueAfter)],
  );
  const [totals] = rows;
  if (!totals) throw new Error('an aggregate without groups has one row');
  return totals;
}

import type pg from 'pg';
import type { RunPhase } from '../../domain/runs.ts';

/** How the fleet is doing, as the ledger knows it; all of it from small tables, or by partial indexes. */
export type LedgerFigures = {
  /** Of runs that are not over, those that are not done. */
  readonly slices: readonly SliceCount[];
  readonly openBreakers: readonly OpenBreaker[];
  readonly inbox: InboxFigures;
  /** Of whom nobody knows whether the service took their request, by what is booked: some seconds old. */
  readonly unknownRecipients: number;
  /** Times of schedules that made no run, since ever. */
  readonly ticks: { readonly missed: number; readonly failed: number };
  /** What `notify` has not told: due for longer than some tries take, and given up since ever. */
  readonly notifications: { readonly overdue: number; readonly givenUp: number };
  /** How those that are active were written. */
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
  /** Seconds since the oldest report fell due; 0 when none is due. */
  readonly lag: number;
  readonly due: number;
  /** Reports that matched nothing, and are looked at again later. */
  readonly later: number;
  readonly failed: number;
};

/** One after the other, so that a scrape takes one connection. */
export async function readFigures(pool: pg.Pool, now: Date): Promise<LedgerFigures> {
  const slices = await countSlices(pool);
  const openBreakers = await listOpenBreakers(pool);
  const inbox = await inboxFigures(pool, now);
  const unknownRecipients = await countUnknown(pool);
  const ticks = await countTicks(pool);
  const notifications = await countNotifications(pool, now);
  const { rows } = await pool.query<{ times: unknown }>('SELECT times FROM schedules WHERE active');
  return {
    slices,
    openBreakers,
    inbox,
    unknownRecipients,
    ticks,
    notifications,
    schedules: rows.map(({ times }) => times),
  };
}

/** A slice is a thousand requests, and a run that is not over is found by `runs_unfinished`. */
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

/** By Postgres's clock, as the breakers are. */
async function listOpenBreakers(pool: pg.Pool): Promise<OpenBreaker[]> {
  const { rows } = await pool.query<OpenBreaker>(
    `
    SELECT account, greatest(0, extract(epoch FROM clock_timestamp() - opened_at))::float8 AS seconds
    FROM account_breakers
    ORDER BY account
    `,
  );
  return rows;
}

/** SQL: how many reports the ledger refused; by `unusual_reports_unresolved`. */
const failedReports = `SELECT count(*)::integer FROM unusual_reports WHERE state = 'failed'`;

/** How many reports the ledger refused, and nobody has had read again with success since. */
export async function countFailedReports(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ failed: number }>(`SELECT (${failedReports}) AS failed`);
  return rows[0]?.failed ?? 0;
}

/** A row is what was committed together: 100,000 of them are read in 25 ms. */
async function inboxFigures(pool: pg.Pool, now: Date): Promise<InboxFigures> {
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

/** Most entries have none; they are found by `billing_entries_unknown`. */
async function countUnknown(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ unknown: number }>(
    'SELECT coalesce(sum(unknown), 0)::integer AS unknown FROM billing_entries WHERE unknown <> 0',
  );
  return rows[0]?.unknown ?? 0;
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

/** By `notifications_due` and `notifications_given_up`, which have few of them. */
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

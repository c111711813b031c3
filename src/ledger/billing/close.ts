import type pg from 'pg';
import { type Alongside, type Connection, inTransaction, type Snapshot } from '../session.ts';
import { bookEverything } from './book.ts';

export type Closing = {
  /** A month, such as `2026-11`. */
  readonly period: string;
  readonly timeZone: string;
  readonly beginsAt: Date;
  readonly endsAt: Date;
  readonly closedAt: Date;
  readonly closedBy: string;
};

export type CloseResult =
  | { readonly kind: 'closed'; readonly closing: Closing }
  | { readonly kind: 'already closed'; readonly closing: Closing }
  /** Periods are closed in their order, without gaps. */
  | { readonly kind: 'not next'; readonly last: Closing }
  | { readonly kind: 'not over'; readonly endsAt: Date };

type PeriodToClose = Pick<Closing, 'period' | 'timeZone' | 'closedBy'>;

const columns = `
  period, time_zone AS "timeZone", begins_at AS "beginsAt", ends_at AS "endsAt", closed_at AS "closedAt",
  closed_by AS "closedBy"
`;

/**
 * Closes a month: later changes, and reports on requests without an answer, become corrections in the next month. The
 * first closing also closes everything earlier.
 */
export async function closePeriod(
  pool: pg.Pool,
  { period, timeZone, closedBy }: PeriodToClose,
  now: Date,
  alongside?: Alongside,
): Promise<CloseResult> {
  return inTransaction(pool, async (client) => {
    // From here on no other process books or closes.
    await bookEverything(client);
    const check = await checkPeriod(client, { period, timeZone }, now);
    if (check.kind !== 'can be closed') return check;
    const { bounds } = check;
    const closing = { period, timeZone, closedBy, ...bounds, closedAt: now };
    await client.query(
      `
      INSERT INTO billing_closings (period, time_zone, begins_at, ends_at, closed_at, closed_by)
      VALUES ($1, $2, $3, $4, $5, $6)
      `,
      [period, timeZone, bounds.beginsAt, bounds.endsAt, now, closedBy],
    );
    await alongside?.(client);
    return { kind: 'closed', closing };
  });
}

export type PeriodCheck =
  | Exclude<CloseResult, { kind: 'closed' }>
  | { readonly kind: 'can be closed'; readonly bounds: Pick<Closing, 'beginsAt' | 'endsAt'> };

/** Whether a month can be closed now. */
export async function checkPeriod(
  client: Connection,
  { period, timeZone }: Pick<PeriodToClose, 'period' | 'timeZone'>,
  now: Date,
): Promise<PeriodCheck> {
  const closings = await listClosings(client);
  const before = closings.find((closing) => closing.period === period);
  if (before) return { kind: 'already closed', closing: before };
  const { rows } = await client.query<{ beginsAt: Date; endsAt: Date }>(
    `
    SELECT begins AT TIME ZONE $2 AS "beginsAt", (begins + interval '1 month') AT TIME ZONE $2 AS "endsAt"
    FROM (SELECT CAST($1 || '-01' AS timestamp) AS begins) month
    `,
    [period, timeZone],
  );
  const [bounds] = rows;
  if (bounds === undefined) throw new Error('the query for the bounds of a month returned no row');
  const last = closings.at(-1);
  if (last && last.endsAt.getTime() !== bounds.beginsAt.getTime()) return { kind: 'not next', last };
  if (bounds.endsAt > now) return { kind: 'not over', endsAt: bounds.endsAt };
  return { kind: 'can be closed', bounds };
}

export async function listClosings(client: Connection): Promise<Closing[]> {
  const { rows } = await client.query<Closing>(`SELECT ${columns} FROM billing_closings ORDER BY ends_at`);
  return rows;
}

/** Finds the closing of all time before a local date or time. Returns undefined where part of it is open. */
export async function findClosingOf(
  client: Snapshot,
  until: string,
  timeZone: string,
): Promise<Closing | undefined> {
  const { rows } = await client.query<Closing>(
    `
    SELECT ${columns}
    FROM billing_closings
    WHERE ends_at >= CAST($1 AS timestamp) AT TIME ZONE $2
    ORDER BY ends_at
    LIMIT 1
    `,
    [until, timeZone],
  );
  return rows[0];
}

/** The last month before a local date, as `2026-11`, that has an entry. Reads one entry. */
export async function findLastMonthBooked(
  client: Connection,
  until: string,
  timeZone: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ month: string | null }>(
    `
    SELECT to_char(max(booked) AT TIME ZONE $2, 'YYYY-MM') AS month
    FROM billing_entries
    WHERE booked < CAST($1 AS timestamp) AT TIME ZONE $2
    `,
    [until, timeZone],
  );
  return rows[0]?.month ?? undefined;
}

import type pg from 'pg';
import type { Person } from '../../domain/access.ts';
import type { TickReason } from '../../domain/reasons.ts';
import type { RunState, TickState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import { type Stored, tickReason } from '../reasons.ts';
import type { Transaction } from '../session.ts';

export type ListedSchedule = {
  readonly schedule: string;
  readonly campaign: string;
  readonly times: unknown;
  readonly active: boolean;
  /** When a process last recorded its ticks, which it does every few seconds. */
  readonly recordedUntil: Date;
};

/** Includes schedules whose file no longer exists. */
export async function listSchedules(pool: pg.Pool): Promise<ListedSchedule[]> {
  const { rows } = await pool.query<ListedSchedule>(
    'SELECT schedule, campaign, times, active, recorded_until AS "recordedUntil" FROM schedules ORDER BY schedule',
  );
  return rows;
}

export type ListedTick = {
  readonly schedule: string;
  readonly dueAt: Date;
  readonly state: TickState;
  readonly run: string | null;
  readonly reason: TickReason | null;
};

export async function listTicks(pool: pg.Pool, limit: number): Promise<ListedTick[]> {
  const { rows } = await pool.query<Stored<ListedTick>>(
    `
    SELECT schedule, due_at AS "dueAt", state, run_id AS run, reason
    FROM ticks
    ORDER BY due_at DESC, schedule
    LIMIT $1
    `,
    [limit],
  );
  return rows.map((row) => ({ ...row, reason: tickReason(row.reason) }));
}

/** A tick with what came of its run. */
export type TickResult = ListedTick & {
  readonly runState: RunState | null;
  /** Requests of its run were rejected, failed, or are unknown. */
  readonly hasUnaccepted: boolean;
};

/**
 * Lists the latest ticks of each schedule, newest first.
 *
 * @param accounts when the file was of another account, which had a run, its ticks until then are omitted; null: all
 */
export async function listLatestTicks(
  pool: pg.Pool,
  schedules: readonly string[],
  each: number,
  accounts: readonly string[] | null,
): Promise<TickResult[]> {
  const { rows } = await pool.query<Stored<TickResult>>(
    `
    SELECT schedule, due_at AS "dueAt", latest.state, run_id AS run, reason, run_state AS "runState",
           EXISTS (
             SELECT FROM run_counts c
             WHERE c.run_id = latest.run_id AND counted IN ('rejected', 'failed', 'in_doubt', 'abandoned')
             GROUP BY counted
             HAVING sum(requests) > 0
           ) AS "hasUnaccepted"
    FROM unnest($1::text[]) AS wanted (schedule)
    CROSS JOIN LATERAL (
      SELECT newest.*, runs.state AS run_state, bool_or(runs.account <> ALL ($3)) OVER (ORDER BY due_at DESC) AS is_foreign
      FROM (
        SELECT due_at, state, run_id, reason
        FROM ticks
        WHERE ticks.schedule = wanted.schedule
        ORDER BY due_at DESC
        LIMIT $2
      ) newest
      LEFT JOIN runs USING (run_id)
    ) latest
    WHERE is_foreign IS NOT TRUE
    ORDER BY due_at DESC, schedule
    `,
    [schedules, each, accounts],
  );
  return rows.map((row) => ({ ...row, reason: tickReason(row.reason) }));
}

export type SyncedSchedule = {
  /** Path of the campaign file in the campaign folder. */
  readonly schedule: string;
  readonly campaign: string;
  /** Unparsed. */
  readonly times: unknown;
  /** Unparsed targets that are notified of ticks without a run. */
  readonly notify: readonly unknown[];
  /** Of the campaign file. */
  readonly fileSha256: Buffer;
  /** They must not approve its runs. */
  readonly putInBy: readonly Person[];
};

const synced = batchOf<SyncedSchedule>({
  schedule: ['text', ({ schedule }) => schedule],
  campaign: ['text', ({ campaign }) => campaign],
  times: ['jsonb', ({ times }) => JSON.stringify(times)],
  notify: ['jsonb', ({ notify }) => JSON.stringify(notify)],
  file_sha256: ['bytea', ({ fileSha256 }) => fileSha256],
  put_in_by: ['jsonb', ({ putInBy }) => JSON.stringify(putInBy)],
});

/**
 * Updates the schedules to match the campaign folder. New schedules and new times begin now; schedules without a file
 * become inactive. An unchanged file keeps the persons who put it in.
 *
 * @param untouched schedules to leave as they are
 * @param now later ticks will be recorded
 */
export async function syncSchedules(
  client: Transaction,
  schedules: readonly SyncedSchedule[],
  untouched: readonly string[],
  now: Date,
): Promise<void> {
  await client.query(
    `
    INSERT INTO schedules AS s (${synced.columns}, active, recorded_until)
    SELECT ${synced.columns}, true, $1
    FROM ${synced.table('written', 2)}
    ORDER BY schedule
    ON CONFLICT (schedule) DO UPDATE
    SET campaign = excluded.campaign, times = excluded.times, notify = excluded.notify,
        file_sha256 = excluded.file_sha256, put_in_by = excluded.put_in_by, active = true,
        recorded_until = CASE WHEN s.active AND s.times = excluded.times THEN s.recorded_until ELSE $1 END
    WHERE NOT s.active OR s.times <> excluded.times OR s.campaign <> excluded.campaign
       OR s.notify <> excluded.notify OR s.file_sha256 IS DISTINCT FROM excluded.file_sha256
    `,
    [now, ...synced.values(schedules)],
  );
  await client.query('UPDATE schedules SET active = false WHERE active AND schedule <> ALL ($1::text[])', [
    [...schedules.map(({ schedule }) => schedule), ...untouched],
  ]);
}

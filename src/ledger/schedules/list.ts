import type pg from 'pg';
import type { TickState } from '../../domain/runs.ts';

export type ListedSchedule = {
  readonly schedule: string;
  readonly campaign: string;
  readonly times: unknown;
  readonly active: boolean;
};

/** All schedules, also those whose file is gone. */
export async function listSchedules(pool: pg.Pool): Promise<ListedSchedule[]> {
  const { rows } = await pool.query<ListedSchedule>(
    'SELECT schedule, campaign, times, active FROM schedules ORDER BY schedule',
  );
  return rows;
}

export type ListedTick = {
  readonly schedule: string;
  readonly dueAt: Date;
  readonly state: TickState;
  readonly run: string | null;
  readonly reason: string | null;
};

/** The latest ticks that have come, newest first. */
export async function listTicks(pool: pg.Pool, limit: number): Promise<ListedTick[]> {
  const { rows } = await pool.query<ListedTick>(
    `
    SELECT schedule, due_at AS "dueAt", state, run_id AS run, reason
    FROM ticks
    ORDER BY due_at DESC, schedule
    LIMIT $1
    `,
    [limit],
  );
  return rows;
}

import type pg from 'pg';
import type { Actor, AuditAction } from '../../domain/access.ts';
import type { RefusedRun } from '../../domain/problems.ts';
import type { TickReason } from '../../domain/reasons.ts';
import type { TickState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import { insertMissedTickNotifications } from '../notifications/insert.ts';
import { reasonValue, type Stored, tickReason } from '../reasons.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { hasOpenRest } from '../watch/rests.ts';

export type LockedSchedule = {
  readonly schedule: string;
  readonly times: unknown;
  readonly recordedUntil: Date;
};

/** Locks active schedules until the end of the transaction. Skips those that another process has locked. */
export async function lockSchedules(client: Transaction, now: Date): Promise<LockedSchedule[]> {
  const { rows } = await client.query<LockedSchedule>(
    `
    SELECT schedule, times, recorded_until AS "recordedUntil"
    FROM schedules
    WHERE active AND recorded_until < $1
    ORDER BY schedule
    FOR NO KEY UPDATE SKIP LOCKED
    `,
    [now],
  );
  return rows;
}

export type NewTick = {
  readonly schedule: string;
  readonly dueAt: Date;
  readonly state: 'due' | 'missed';
  readonly reason: TickReason | null;
};

const newTicks = batchOf<NewTick>({
  schedule: ['text', ({ schedule }) => schedule],
  due_at: ['timestamptz', ({ dueAt }) => dueAt],
  state: ['text', ({ state }) => state],
  reason: ['jsonb', ({ reason }) => reasonValue(reason)],
});

/** Records ticks of locked schedules, each once. Missed ticks of a schedule share one notification. */
export async function recordTicks(
  client: Transaction,
  schedules: readonly string[],
  ticks: readonly NewTick[],
  now: Date,
): Promise<void> {
  const { rows } = await client.query<Stored<NewTick>>(
    `
    INSERT INTO ticks (${newTicks.columns})
    SELECT * FROM ${newTicks.table('new')}
    ON CONFLICT DO NOTHING
    RETURNING schedule, due_at AS "dueAt", state, reason
    `,
    newTicks.values(ticks),
  );
  const bySchedule = Map.groupBy(
    rows.filter(({ state }) => state === 'missed'),
    ({ schedule }) => schedule,
  );
  await insertMissedTickNotifications(
    client,
    [...bySchedule].map(([schedule, missed]) => {
      const dueAt = missed.map((each) => each.dueAt).toSorted((a, b) => a.getTime() - b.getTime());
      const reason = tickReason(missed[0]?.reason ?? null);
      return { schedule, state: 'missed', dueAt, reason, refused: null };
    }),
  );
  await client.query('UPDATE schedules SET recorded_until = $2 WHERE schedule = ANY ($1)', [schedules, now]);
}

/** `due → missed` for every due tick. */
export async function markDueTicksMissed(client: Transaction, reason: TickReason): Promise<void> {
  const { rows } = await client.query<TickKey>(
    `
    UPDATE ticks SET state = 'missed', reason = $1 WHERE state = 'due' RETURNING schedule, due_at AS "dueAt"
    `,
    [reasonValue(reason)],
  );
  await insertMissedTickNotifications(
    client,
    rows.map(({ schedule, dueAt }) => ({ schedule, state: 'missed', dueAt: [dueAt], reason, refused: null })),
  );
}

export type DueTick = {
  readonly schedule: string;
  readonly dueAt: Date;
  readonly times: unknown;
  /** An unfinished run of an earlier tick. */
  readonly unfinishedRun: string | null;
};

/** Lists the earliest due tick of each schedule. */
export async function listDueTicks(pool: pg.Pool): Promise<DueTick[]> {
  const { rows } = await pool.query<DueTick>(`
    SELECT DISTINCT ON (t.schedule) t.schedule, t.due_at AS "dueAt", s.times,
           (SELECT r.run_id
            FROM ticks earlier
            LEFT JOIN run_rests rest ON rest.run_id = earlier.run_id
            JOIN runs r ON r.run_id IN (earlier.run_id, rest.rest_run)
            WHERE earlier.schedule = t.schedule
              AND (r.state IN ('planned', 'running', 'paused') OR r.state = 'completed' AND ${hasOpenRest('r.run_id')})
            ORDER BY earlier.due_at
            LIMIT 1) AS "unfinishedRun"
    FROM ticks t
    JOIN schedules s ON s.schedule = t.schedule
    WHERE t.state = 'due'
    ORDER BY t.schedule, t.due_at
  `);
  return rows;
}

type TickKey = Pick<DueTick, 'schedule' | 'dueAt'>;

/**
 * `due → started`, in the transaction that makes the run, so that each tick has one run.
 *
 * @returns whether it was still due
 */
export async function startTick(
  client: Transaction,
  { schedule, dueAt }: TickKey,
  run: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE ticks SET state = 'started', run_id = $3 WHERE schedule = $1 AND due_at = $2 AND state = 'due'`,
    [schedule, dueAt, run],
  );
  return rowCount === 1;
}

/**
 * `due → skipped | missed | failed`
 *
 * @param refused the run was refused because of its contacts
 */
export async function endTick(
  pool: pg.Pool,
  { schedule, dueAt }: TickKey,
  {
    state,
    reason,
    refused,
  }: {
    readonly state: Exclude<TickState, 'due' | 'started'>;
    readonly reason: TickReason;
    readonly refused?: RefusedRun | undefined;
  },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `
      UPDATE ticks SET state = $3, reason = $4, refused = $5
      WHERE schedule = $1 AND due_at = $2 AND state = 'due'
      `,
      [schedule, dueAt, state, reasonValue(reason), refused ? JSON.stringify(refused) : null],
    );
    if (rowCount === 0 || state === 'skipped') return;
    await insertMissedTickNotifications(client, [
      { schedule, state, dueAt: [dueAt], reason, refused: refused ?? null },
    ]);
  });
}

/** A planned run of a schedule, or of a token's owner. */
type UnstartedRun = { readonly run: string; readonly plannedBy: Actor };

const planned: AuditAction = 'run planned';

/** Lists planned runs of ticks, rests, the API and the dashboard that do not wait for approval, oldest first. */
export async function listUnstartedRuns(pool: pg.Pool): Promise<UnstartedRun[]> {
  const { rows } = await pool.query<UnstartedRun>(
    `
    SELECT r.run_id AS run, p.actor AS "plannedBy"
    FROM runs r
    CROSS JOIN LATERAL (
      SELECT json_build_object('name', actor, 'via', via, 'token', token) AS actor
      FROM audit
      WHERE run_id = r.run_id AND action = $1
      ORDER BY entry
      LIMIT 1
    ) p
    WHERE r.state = 'planned'
      AND (r.run_id IN (SELECT run_id FROM ticks) OR r.run_id IN (SELECT run_id FROM started_by_key)
           OR r.run_id IN (SELECT rest_run FROM run_rests))
      AND NOT EXISTS (SELECT FROM approvals a WHERE a.run_id = r.run_id AND a.approved_at IS NULL)
    ORDER BY r.created_at
    `,
    [planned],
  );
  return rows;
}

import type pg from 'pg';
import type { RefusedRun } from '../../domain/problems.ts';
import type { RunReason, TickReason } from '../../domain/reasons.ts';
import { batchOf } from '../batch.ts';
import { reasonValue } from '../reasons.ts';
import type { Transaction } from '../session.ts';

/**
 * Adds a notification for each subscribed target, in the transaction that completes or pauses the run: the table is an
 * outbox. Each change has its own: a run that pauses twice notifies twice.
 *
 * @param change key in run_states
 */
export async function insertRunNotifications(
  client: Transaction,
  run: string,
  change: string,
): Promise<void> {
  await client.query(
    `
    INSERT INTO notifications (run_id, change, target_index, event, target, campaign_file, reason, created_at)
    SELECT c.run_id, c.change, each.target_index, happened.event, each.target, l.campaign_file, c.reason, c.changed_at
    FROM run_states c
    JOIN notify_lists l ON l.run_id = c.run_id
    CROSS JOIN LATERAL (
      SELECT CASE
        WHEN c.state = 'paused' THEN 'paused'
        WHEN EXISTS (
          SELECT FROM run_counts k
          WHERE k.run_id = c.run_id AND k.counted IN ('rejected', 'divided', 'failed', 'in_doubt', 'abandoned')
          GROUP BY k.counted
          HAVING sum(k.requests) > 0
        ) THEN 'failures'
        ELSE 'completed'
      END AS event
    ) happened
    CROSS JOIN LATERAL jsonb_array_elements(l.targets) WITH ORDINALITY AS each (target, target_index)
    WHERE c.run_id = $1 AND c.change = $2 AND each.target -> 'on' @> to_jsonb(happened.event)
    `,
    [run, change],
  );
}

/**
 * Adds a notification that the guard of a run warns, or that its rest waits for a person, for each target of `paused`: one of
 * each kind until the state of the run changes.
 */
export async function insertWarning(
  client: Transaction,
  run: string,
  reason: RunReason,
  now: Date,
): Promise<void> {
  await client.query(
    `
    INSERT INTO notifications (run_id, change, target_index, event, target, campaign_file, reason, created_at)
    SELECT l.run_id, c.change, each.target_index, 'warned', each.target, l.campaign_file, $2, $3
    FROM notify_lists l
    CROSS JOIN LATERAL (SELECT max(change) AS change FROM run_states WHERE run_id = l.run_id) c
    CROSS JOIN LATERAL jsonb_array_elements(l.targets) WITH ORDINALITY AS each (target, target_index)
    WHERE l.run_id = $1 AND each.target -> 'on' @> '"paused"'
    ON CONFLICT DO NOTHING
    `,
    [run, reasonValue(reason), now],
  );
}

type MissedTick = {
  readonly schedule: string;
  readonly state: 'missed' | 'failed';
  /** Of the ticks, from the first; at least one. */
  readonly dueAt: readonly Date[];
  /** Of a run that could not be planned it may quote a contact file, so it stays in the ledger. */
  readonly reason: TickReason | null;
  readonly refused: RefusedRun | null;
};

const missedTicks = batchOf<MissedTick>({
  schedule: ['text', ({ schedule }) => schedule],
  tick: ['timestamptz', ({ dueAt }) => dueAt.at(-1) ?? null],
  missed: [
    'jsonb',
    ({ dueAt, state }) => {
      const [from, until] = [dueAt[0], dueAt.at(-1)].map(formatToSecond);
      return JSON.stringify({ times: dueAt.length, from, until, state });
    },
  ],
  refused: ['jsonb', ({ refused }) => refused && JSON.stringify(refused)],
  reason: [
    'jsonb',
    ({ state, reason, refused }) =>
      reasonValue(refused ? refused.reason : state === 'missed' ? reason : null),
  ],
});

/**
 * Adds notifications of ticks without a run for each subscribed target, in the transaction that ends the ticks. A
 * refused run adds one for each target, whether the target subscribes to refused or to missed.
 */
export async function insertMissedTickNotifications(
  client: Transaction,
  missed: readonly MissedTick[],
): Promise<void> {
  if (missed.length === 0) return;
  await client.query(
    `
    INSERT INTO notifications (schedule, tick, target_index, event, target, missed, refused, reason, created_at)
    SELECT s.schedule, m.tick, each.target_index,
           CASE WHEN m.refused IS NOT NULL AND each.target -> 'on' @> '"refused"' THEN 'refused' ELSE 'missed' END,
           each.target, m.missed || jsonb_build_object('campaign', s.campaign), m.refused, m.reason, now()
    FROM ${missedTicks.table('m')}
    JOIN schedules s ON s.schedule = m.schedule
    CROSS JOIN LATERAL jsonb_array_elements(s.notify) WITH ORDINALITY AS each (target, target_index)
    WHERE each.target -> 'on' @> '"missed"' OR (m.refused IS NOT NULL AND each.target -> 'on' @> '"refused"')
    `,
    missedTicks.values(missed),
  );
}

/** Formats as ISO 8601 without milliseconds, because ticks are whole minutes. */
function formatToSecond(time: Date | undefined): string {
  return `${time?.toISOString().slice(0, 19)}Z`;
}

/**
 * Adds a notification for each subscribed target.
 *
 * @param targets unparsed
 * @param campaignFile absolute path on this machine
 */
export async function insertRefusedRunNotifications(
  pool: pg.Pool,
  targets: readonly unknown[],
  { refused, campaignFile }: { readonly refused: RefusedRun; readonly campaignFile: string },
  now: Date,
): Promise<string[]> {
  const { rows } = await pool.query<{ notification: string }>(
    `
    INSERT INTO notifications (target_index, event, target, campaign_file, refused, reason, created_at)
    SELECT target_index, 'refused', target, $2, $3, $4, $5
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS each (target, target_index)
    WHERE target -> 'on' @> '"refused"'
    RETURNING notification
    `,
    [JSON.stringify(targets), campaignFile, JSON.stringify(refused), reasonValue(refused.reason), now],
  );
  return rows.map(({ notification }) => notification);
}

/**
 * Stores the notification targets of a new run.
 *
 * @param targets unparsed
 * @param campaignFile absolute path on this machine
 */
export async function insertNotifyList(
  client: Transaction,
  run: string,
  targets: readonly unknown[],
  campaignFile: string,
): Promise<void> {
  if (targets.length === 0) return;
  await client.query('INSERT INTO notify_lists (run_id, targets, campaign_file) VALUES ($1, $2, $3)', [
    run,
    JSON.stringify(targets),
    campaignFile,
  ]);
}

/** Copies the notification targets of a run to a new run. */
export async function copyNotifyList(client: Transaction, from: string, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO notify_lists (run_id, targets, campaign_file)
    SELECT $2, targets, campaign_file
    FROM notify_lists
    WHERE run_id = $1
    `,
    [from, run],
  );
}

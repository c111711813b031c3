import type { RunReason, UnrecordedReason } from '../../domain/reasons.ts';
import { openRunStates, type RunState } from '../../domain/runs.ts';
import { insertRunNotifications, insertWarning } from '../notifications/insert.ts';
import { reasonValue } from '../reasons.ts';
import type { Transaction } from '../session.ts';

/*
 * The states of a run, one function for each transition. Each records its change in run_states and creates
 * notifications for completed and paused. From any other state nothing changes.
 */

/**
 * Locks a run until the end of the transaction. Transactions that change its slices lock it first.
 *
 * @returns its state; undefined if there is no such run
 */
export async function lockRun(client: Transaction, run: string): Promise<RunState | undefined> {
  const { rows } = await client.query<{ state: RunState }>(
    'SELECT state FROM runs WHERE run_id = $1 FOR NO KEY UPDATE',
    [run],
  );
  return rows[0]?.state;
}

/** `→ planned`: the default state of a new row. */
export async function markPlanned(client: Transaction, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO run_states (run_id, state, reason, changed_at)
    SELECT run_id, state, state_reason, created_at
    FROM runs
    WHERE run_id = $1
    `,
    [run],
  );
}

/** `planned → running`: started, or a worker acquires its first slice. */
export async function markBegun(client: Transaction, run: string): Promise<void> {
  await changeState(client, run, { from: ['planned'], to: 'running' });
}

/** `paused → running` */
export async function markResumed(client: Transaction, run: string): Promise<void> {
  await changeState(client, run, { from: ['paused'], to: 'running' });
}

/** `planned, running → paused` */
export async function markPaused(client: Transaction, run: string, reason: RunReason): Promise<void> {
  await changeState(client, run, { from: ['planned', 'running'], to: 'paused', reason });
}

/** A completed run asks a person. Targets of `paused` are notified of it, as a change of its own. */
export async function recordQuestion(
  client: Transaction,
  run: string,
  question: string,
  now: Date,
): Promise<void> {
  await client.query(
    'INSERT INTO run_states (run_id, state, reason, changed_at) SELECT run_id, state, $2, $3 FROM runs WHERE run_id = $1',
    [run, reasonValue(question), now],
  );
  await insertWarning(client, run, question, now);
}

/** `planned, running, paused → paused`: another ledger may have sent the run. */
export async function markUnrecorded(
  client: Transaction,
  run: string,
  reason: UnrecordedReason,
): Promise<void> {
  await changeState(client, run, { from: openRunStates, to: 'paused', reason });
}

/** `planned, running, paused → cancelled` */
export async function markCancelled(
  client: Transaction,
  run: string,
  reason: RunReason,
  now: Date,
): Promise<void> {
  await changeState(client, run, {
    from: openRunStates,
    to: 'cancelled',
    reason,
    finishedAt: now,
  });
}

/** `running, paused → completed`: nothing is left to send. */
export async function markCompleted(client: Transaction, run: string, now: Date): Promise<void> {
  await changeState(client, run, { from: ['running', 'paused'], to: 'completed', finishedAt: now });
}

/** `completed → paused`: requests of the run are resent. */
export async function markReopened(client: Transaction, run: string, reason: RunReason): Promise<void> {
  await changeState(client, run, { from: ['completed'], to: 'paused', reason });
}

type Change = {
  readonly from: readonly RunState[];
  readonly to: RunState;
  readonly reason?: RunReason;
  readonly finishedAt?: Date;
};

async function changeState(
  client: Transaction,
  run: string,
  { from, to, reason, finishedAt }: Change,
): Promise<void> {
  const { rows } = await client.query<{ change: string }>(
    `
    WITH before AS MATERIALIZED (
      SELECT state FROM runs WHERE run_id = $1 AND state = ANY ($2::text[]) FOR NO KEY UPDATE
    ), changed AS (
      UPDATE runs
      SET state = $3, state_reason = $4::jsonb, finished_at = $5
      FROM before
      WHERE run_id = $1
      RETURNING before.state AS former_state
    )
    INSERT INTO run_states (run_id, state, reason, changed_at)
    SELECT $1, $3, $4, coalesce($5, clock_timestamp())
    FROM changed
    WHERE former_state <> $3
    RETURNING change
    `,
    [run, from, to, reason === undefined ? null : reasonValue(reason), finishedAt ?? null],
  );
  const [recorded] = rows;
  if (recorded && (to === 'completed' || to === 'paused'))
    await insertRunNotifications(client, run, recorded.change);
}

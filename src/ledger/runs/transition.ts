import type { Knex } from 'knex';
import type { RunState } from '../../domain.ts';

/** Which states a run may come from. `completed`, `cancelled` and `failed` are final. */
const origins: Readonly<Record<'running' | 'paused' | 'completed', readonly RunState[]>> = {
  running: ['planned', 'running', 'paused'],
  paused: ['running'],
  completed: ['running'],
};

/**
 * Moves a run to another state.
 *
 * @param reason why, in words a person can act on; null when it needs none
 * @returns 'changed', or 'unchanged' when the run was in none of the states it may come from
 */
export async function moveRun(
  knex: Knex,
  run: string,
  state: 'running' | 'paused' | 'completed',
  reason: string | null,
  now: Date,
): Promise<'changed' | 'unchanged'> {
  const changed = await knex('runs')
    .where({ run_id: run })
    .whereIn('state', [...origins[state]])
    .update({ state, state_reason: reason, finished_at: state === 'completed' ? now : null });
  return changed > 0 ? 'changed' : 'unchanged';
}

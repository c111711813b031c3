import { InputError } from '../../domain/problems.ts';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import { findApproval } from '../../ledger/approvals/approvals.ts';
import type { EngineContext } from '../context.ts';
import { nothingLeftText } from './begin-run.ts';
import { requireRun } from './find-run.ts';
import { nothingToStopText } from './stop-run.ts';

/**
 * For a page that asks before it acts: says at once what cannot be done in this state. The use cases check again.
 *
 * @throws InputError
 */
export async function requirePossible(
  context: EngineContext,
  run: string,
  action: 'pause' | 'resume' | 'cancel',
): Promise<void> {
  const { state } = await requireRun(context, run);
  const refuse = (what: string): never => {
    throw new InputError([{ where: `run ${run}`, what }]);
  };
  if (!isPossible(action, state)) refuse(action === 'resume' ? resumeText(state) : nothingToStopText(state));
  if (action !== 'resume') return;
  const approval = await findApproval(context.ledger.pool, run);
  if (approval && approval.approvedAt === null) refuse('The run waits for approval. Nothing is sent before.');
}

function isPossible(action: 'pause' | 'resume' | 'cancel', state: RunState): boolean {
  if (hasEnded(state)) return false;
  if (action === 'pause') return state !== 'paused';
  return action === 'cancel' || state !== 'running';
}

export function resumeText(state: RunState): string {
  return state === 'running' ? 'The run is running already.' : nothingLeftText(state);
}

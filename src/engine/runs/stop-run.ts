import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../domain/problems.ts';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import { findApproval } from '../../ledger/approvals/approvals.ts';
import { cancelRun, pauseRun, type StopResult } from '../../ledger/runs/stop.ts';
import { readDispatchProgress } from '../../ledger/slices/progress.ts';
import { reclaimSlicesOfEndedWorkers } from '../../ledger/slices/reclaim.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { maxDrain } from '../dispatch/drain.ts';
import { nothingLeftText, requireApproved } from './begin-run.ts';
import { noSuchRun, requireRun } from './find-run.ts';

/** @throws InputError unless the run is planned or running */
export async function pause(context: EngineContext, run: string, reason: string): Promise<void> {
  const { ledger } = context;
  await audited(context, { action: 'run paused', run, details: { reason } }, async (addAuditEntry) => {
    requireChanged(
      run,
      await pauseRun(await ledger.queue(), ledger.pool, run, { reason, alongside: addAuditEntry }),
    );
  });
}

/** Also ends the rest of a run that is sent. @throws InputError when the run is missing, or nothing of it is left */
export async function cancel(context: EngineContext, run: string, reason: string): Promise<void> {
  const { ledger, now } = context;
  await audited(context, { action: 'run cancelled', run, details: { reason } }, async (addAuditEntry) => {
    requireChanged(
      run,
      await cancelRun(await ledger.queue(), ledger.pool, run, {
        reason,
        now: now(),
        alongside: addAuditEntry,
      }),
    );
  });
}

function requireChanged(run: string, stopped: StopResult | undefined): void {
  if (!stopped) noSuchRun(run);
  if (stopped.changed) return;
  throw new InputError([{ where: `run ${run}`, what: nothingToStopText(stopped.state) }]);
}

function nothingToStopText(state: RunState): string {
  return `The run is ${state} already; there is nothing to stop.`;
}

/** Resolves when no worker holds a slice, or after `maxDrain`. */
export async function waitUntilIdle(context: EngineContext, run: string, stop: AbortSignal): Promise<void> {
  const { ledger, monotonic, now } = context;
  const queue = await ledger.queue();
  const end = monotonic() + maxDrain;
  while (!stop.aborted && monotonic() < end) {
    // No other process may be running that would reclaim them.
    await reclaimSlicesOfEndedWorkers(queue, ledger.pool, null, now);
    const progress = (await readDispatchProgress(ledger.pool, [run])).get(run);
    if (!progress || progress.heldSlices === 0) return;
    await sleep(100);
  }
}

/**
 * Says at once what cannot be done in this state, to a page that asks before it acts. The use cases check again.
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
  if (action === 'cancel' && (await readDispatchProgress(context.ledger.pool, [run])).get(run)?.rest) return;
  if (!isPossible(action, state)) refuse(action === 'resume' ? resumeText(state) : nothingToStopText(state));
  if (action !== 'resume') return;
  const approval = await findApproval(context.ledger.pool, run);
  if (approval && approval.approvedAt === null) requireApproved(run, 'unapproved');
}

function isPossible(action: 'pause' | 'resume' | 'cancel', state: RunState): boolean {
  if (hasEnded(state)) return false;
  if (action === 'pause') return state !== 'paused';
  return action === 'cancel' || state !== 'running';
}

export function resumeText(state: RunState): string {
  return state === 'running' ? 'The run is running already.' : nothingLeftText(state);
}

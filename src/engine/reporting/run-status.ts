import type { Refusal } from '../../domain/breaker.ts';
import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import type { RunPhase, RunSummary } from '../../domain/runs.ts';
import { findRefusal } from '../../ledger/limits/breaker.ts';
import { type ClockStep, findClockStep } from '../../ledger/limits/clock.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { type ListedNotification, listRunNotifications } from '../../ledger/notifications/list.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import { readWorkers } from '../../ledger/operations/workers.ts';
import { findPreemptingRun } from '../../ledger/slices/priority.ts';
import { readDispatchProgress } from '../../ledger/slices/progress.ts';
import { formatReasonOrNull } from '../../platform/reason-text.ts';
import type { EngineContext } from '../context.ts';
import { requireRun, requireSummary } from '../runs/find-run.ts';

export type RunStatus = RunSummary & {
  readonly reason: string | null;
  /** Null when the run is not running. */
  readonly phase: RunPhase | null;
  /** It is running, and no worker runs that could send it. */
  readonly unattended: boolean;
  /** The more urgent run of its account that it waits for. */
  readonly preemptedBy: string | null;
  /** The service refuses the account's requests. The run continues by itself. */
  readonly refusal: Refusal | null;
  /** Set back since planning: recorded times may be out of order, rates hold. */
  readonly clockStep: ClockStep | null;
  readonly held: string | null;
  /** Null if there are none. */
  readonly unappliedReports: UnappliedReports | null;
  readonly notifications: readonly ListedNotification[];
};

/** @throws InputError when there is no such run */
export async function requireStatus(context: EngineContext, run: string): Promise<RunStatus> {
  const summary = await requireSummary(context, run);
  const { stateReason } = await requireRun(context, run);
  const preemptedBy = await findPreemptingRun(context.ledger.pool, run);
  const refusal = (await findRefusal(context.ledger.pool, run)) ?? null;
  const notifications = await listRunNotifications(context.ledger.pool, run);
  const clockStep = (await findClockStep(context.ledger.pool, run)) ?? null;
  const held = formatReasonOrNull((await readLocation(context.ledger.pool)).heldReason);
  const unapplied = await findUnappliedReports(context.ledger.pool, context.now());
  const watch = (await readDispatchProgress(context.ledger.pool, [run])).get(run);
  const phase = watch?.state === 'running' ? watch.phase : null;
  return {
    ...summary,
    reason: formatReasonOrNull(stateReason),
    phase,
    unattended: phase !== null && (await readWorkers(context.ledger.pool)).workers === 0,
    preemptedBy: preemptedBy ?? null,
    refusal,
    clockStep,
    held,
    unappliedReports: unapplied.since === null && unapplied.failed === 0 ? null : unapplied,
    notifications,
  };
}

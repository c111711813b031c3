import type { Refusal } from '../../domain/breaker.ts';
import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { RunPhase, RunSummary } from '../../domain/runs.ts';
import type { RunWait } from '../../domain/waits.ts';
import { type ClockStep, findClockStep } from '../../ledger/limits/clock.ts';
import { type ListedNotification, listRunNotifications } from '../../ledger/notifications/list.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { readDispatchProgress } from '../../ledger/slices/progress.ts';
import { listDecisions, type RecordedDecision } from '../../ledger/watch/decisions.ts';
import { readVariantResults, type VariantResult } from '../../ledger/watch/variant-results.ts';
import type { EngineContext } from '../context.ts';
import { noSuchRun, readSummary } from '../runs/find-run.ts';
import { readFleet, waitsOf } from '../runs/waits.ts';

export type RunStatus = RunSummary & {
  readonly reason: string | null;
  /** Null when the run is not running. */
  readonly phase: RunPhase | null;
  /** The most important first; empty while it is sent. Three of the next fields say the same of single waits. */
  readonly waitsFor: readonly RunWait[];
  readonly unattended: boolean;
  readonly preemptedBy: string | null;
  readonly refusal: Refusal | null;
  /** Set back since planning: recorded times may be out of order, rates hold. */
  readonly clockStep: ClockStep | null;
  readonly held: string | null;
  /** Null if there are none. */
  readonly unappliedReports: UnappliedReports | null;
  /** Oldest first. */
  readonly decisions: readonly RecordedDecision[];
  /** Empty: the campaign has none. */
  readonly variants: readonly VariantResult[];
  readonly notifications: readonly ListedNotification[];
};

/** All of one moment. @throws InputError when there is no such run */
export async function requireStatus(
  { ledger, now }: Pick<EngineContext, 'ledger' | 'now'>,
  run: string,
): Promise<RunStatus> {
  return inSnapshot(ledger.pool, async (client) => {
    const summary = await readSummary(client, run);
    const progress = (await readDispatchProgress(client, [run])).get(run) ?? noSuchRun(run);
    const fleet = await readFleet(client);
    const { state, stateReason, phase, preemptedBy, refusal } = progress;
    const waitsFor = waitsOf({ progress, ...fleet, now: now() });
    const unapplied = await findUnappliedReports(client, now());
    return {
      ...summary,
      reason: formatReasonOrNull(stateReason),
      phase: state === 'running' ? phase : null,
      waitsFor,
      unattended: waitsFor.some(({ kind }) => kind === 'worker'),
      preemptedBy,
      refusal,
      clockStep: (await findClockStep(client, run)) ?? null,
      held: formatReasonOrNull(fleet.onHold),
      unappliedReports: unapplied.since === null && unapplied.failed === 0 ? null : unapplied,
      decisions: await listDecisions(client, run),
      variants: await readVariantResults(client, run),
      notifications: await listRunNotifications(client, run),
    };
  });
}

import { formatReasonOrNull } from '../../domain/reasons.ts';
import { findClockStep } from '../../ledger/limits/reserve.ts';
import { listRunNotifications } from '../../ledger/notifications/list.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { readDispatchProgress } from '../../ledger/slices/progress.ts';
import { listDecisions } from '../../ledger/watch/decisions.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import type { EngineContext } from '../context.ts';
import { noSuchRun, readSummary } from '../runs/find-run.ts';
import { readFleet, waitsOf } from '../runs/waits.ts';

export type RunStatus = Awaited<ReturnType<typeof requireStatus>>;

/** All of one moment. @throws InputError when there is no such run */
export async function requireStatus({ ledger, now }: Pick<EngineContext, 'ledger' | 'now'>, run: string) {
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
      // The most important first; empty while it is sent. Three of the next fields say the same of single waits.
      waitsFor,
      unattended: waitsFor.some(({ kind }) => kind === 'worker'),
      preemptedBy,
      refusal,
      // Set back since planning: recorded times may be out of order, rates hold.
      clockStep: (await findClockStep(client, run)) ?? null,
      held: formatReasonOrNull(fleet.onHold),
      unappliedReports: unapplied.since === null && unapplied.failed === 0 ? null : unapplied,
      decisions: await listDecisions(client, run),
      variants: await readVariantResults(client, run),
      notifications: await listRunNotifications(client, run),
    };
  });
}

import type { RunSummary } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { beginRun } from '../../ledger/runs/begin.ts';
import { pauseRun } from '../../ledger/runs/stop.ts';
import { reapDeadWorkers } from '../../ledger/slices/reap.ts';
import type { RunWatch } from '../../ledger/slices/watch.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import { noteOf } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { requireRun, requireSummary } from '../find-run.ts';
import { pass } from '../points.ts';
import { noteBegun, requireBegun, toldIfRefused } from './begin-run.ts';
import { dispatchSettings } from './dispatch-settings.ts';
import { drainDeadlines } from './drain.ts';
import { type Outage, openPatience } from './patience.ts';
import { runWorker } from './worker.ts';

/** How a run ended, or its sending in this process. */
export type RunEnd =
  | ({ readonly summary: RunSummary } & (
      | { readonly kind: 'finished' }
      /** Asked to stop; what was on its way is recorded, and the run can be resumed. */
      | { readonly kind: 'drained' }
      | { readonly kind: 'paused' | 'cancelled'; readonly reason: string }
    ))
  /** As `drained`, but the ledger was away: what could not be recorded is in doubt. */
  | { readonly kind: 'unrecorded' };

export type RunProgress = Outage & {
  /** Counts when the dispatch began. */
  readonly onStart: (summary: RunSummary) => void;
  /** A few times a second: what all workers have done of it. */
  readonly onWatch: (watch: RunWatch) => void;
};

/**
 * Sends a planned, paused or interrupted run until nothing is left to send, together with whatever other workers there
 * are. Requests that a dead process left in the middle of sending become `in_doubt`.
 *
 * @param accountNamed throws InputError for an account that this process does not have
 * @param stop pauses the run, and drains: no new request, and what is on its way is recorded
 * @throws InputError when there is no such run, it is over, its account is not here, or suppressions are hashed and their key
 *   is not
 */
export async function executeRun(
  context: EngineContext,
  runId: string,
  accountNamed: (name: string) => Promise<Account>,
  stop: AbortSignal,
  progress: RunProgress,
): Promise<RunEnd> {
  const { ledger, now } = context;
  const { pool } = ledger;
  const drained = drainDeadlines(stop);
  const patience = openPatience(progress, ledger, drained.giveUp);
  const { persist } = patience;
  try {
    const run = await persist(() => requireRun(context, runId));
    await persist(() => requireHashKey(pool, ledger.hashKey));
    const { plan, policy } = dispatchSettings(runId, await accountNamed(run.account), run.definition);
    const queue = await persist(() => ledger.queue());
    await persist(() => reapDeadWorkers(queue, pool, null, now));
    let tries = 0;
    const before = await persist(() => {
      tries++;
      return beginRun(queue, pool, plan, policy, now(), noteBegun(context, runId));
    });
    // A beginning of which nobody heard has completed a run that had nothing left to send.
    const completedNow = before === 'completed' && tries > 1;
    if (!completedNow) await toldIfRefused(context, run, async () => requireBegun(runId, before));
    progress.onStart(await persist(() => requireSummary(context, runId)));

    const over = new AbortController();
    const reason = 'interrupted';
    const note = noteOf(context, { action: 'run paused', run: runId, details: { reason } });
    const pausing = drained.begun.then(() => persist(() => pauseRun(queue, pool, runId, reason, note)));
    // Where it fails, the worker fails too.
    pausing.catch(() => undefined);
    await runWorker(context, {
      accountNamed,
      stop: AbortSignal.any([stop, over.signal]),
      cutOff: drained.cutOff,
      patience,
      watched: runId,
      onWatch: (watch) => {
        progress.onWatch(watch);
        if (watch.state !== 'running' && watch.held === 0) over.abort();
      },
    });
    if (stop.aborted) await pausing;
    const end = await persist(() => endOf(context, runId, stop));
    pass('run finished', runId);
    return end;
  } catch (error) {
    if (drained.giveUp.aborted) return { kind: 'unrecorded' };
    throw error;
  } finally {
    drained.clear();
  }
}

async function endOf(context: EngineContext, runId: string, stop: AbortSignal): Promise<RunEnd> {
  const { state, stateReason } = await requireRun(context, runId);
  const summary = await requireSummary(context, runId);
  if (state === 'completed') return { kind: 'finished', summary };
  // Somebody may have resumed it by now.
  if (stop.aborted && (stateReason === 'interrupted' || state === 'running'))
    return { kind: 'drained', summary };
  return { kind: state === 'cancelled' ? 'cancelled' : 'paused', reason: stateReason ?? '', summary };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { heldLedgerAdvice } from '../../domain/hold-reasons.ts';
import { formatReason, isInterruption } from '../../domain/reasons.ts';
import { hasEnded, type RunSummary } from '../../domain/runs.ts';
import { isStoppedByCanary } from '../../domain/watch-reasons.ts';
import type { BeginOptions } from '../../ledger/runs/begin.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { pauseRun } from '../../ledger/runs/stop.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { auditEntry, recordRefusal } from '../audit.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { drainDeadlines } from '../dispatch/drain.ts';
import { checkLedgerLocation } from '../dispatch/ledger-location.ts';
import { createOutageRetry, type OutageEvents } from '../dispatch/outage-retry.ts';
import { runWorker, type WorkerOptions } from '../dispatch/worker.ts';
import { trace } from '../trace-points.ts';
import {
  auditRefusedStart,
  auditStart,
  beginSending,
  nothingLeftText,
  requireApproved,
} from './begin-run.ts';
import { requireRun, requireSummary } from './find-run.ts';

/** How a run ended, or its dispatch in this process. */
export type KnownEnd = { readonly summary: RunSummary } & (
  | { readonly kind: 'finished' }
  /** The process was asked to stop. Requests in flight are recorded, and the run can be resumed. */
  | { readonly kind: 'drained' }
  | { readonly kind: 'cancelled'; readonly reason: string }
  /** `isByCanary`: a person promotes the run. */
  | { readonly kind: 'paused'; readonly reason: string; readonly isByCanary: boolean }
);

/** The last three: the process had to end while the ledger was unreachable. */
export type RunEnd =
  | KnownEnd
  | { readonly kind: 'idle' }
  /** Requests whose outcomes could not be recorded are in doubt. */
  | { readonly kind: 'unrecorded' }
  /** All outcomes were recorded; `progress` has the last counts. */
  | { readonly kind: 'recorded'; readonly progress: DispatchProgress };

export type DispatchEvents = OutageEvents & {
  readonly onStart: (summary: RunSummary) => void;
  /** Called several times a second, with the progress of all workers. */
  readonly onProgress: (progress: DispatchProgress) => void;
};

export type ExecuteOptions = Pick<BeginOptions, 'includePaused'> & {
  /** Why a person starts or resumes it, for the audit trail. */
  readonly reason?: string | undefined;
};

/**
 * Sends a planned, paused or interrupted run to its end, together with other workers. Requests that an ended process
 * was sending become `in_doubt`.
 *
 * @param stop pauses the run and drains
 * @param includePaused false for a new run: if it is paused, an operator did it
 * @throws InputError when the run is missing or waits for approval, or its account or the key of hashed suppressions
 *   is missing here
 */
export async function executeRun(
  context: EngineContext,
  runId: string,
  {
    accountNamed,
    stop,
    events,
    includePaused = true,
    reason: given,
  }: ExecuteOptions & {
    readonly accountNamed: AccountNamed;
    readonly stop: AbortSignal;
    readonly events: DispatchEvents;
  },
): Promise<RunEnd> {
  const { ledger } = context;
  const { pool } = ledger;
  const drain = drainDeadlines(stop);
  const outageRetry = createOutageRetry(events, ledger, drain.giveUp);
  const { retry } = outageRetry;
  let isUnrecorded = false;
  let last: DispatchProgress | undefined;
  try {
    const run = await retry(() => requireRun(context, runId));
    const account = await accountNamed(run.account);
    trace('beginning', runId);
    const options = { includePaused, alongside: auditStart(context, runId, given) };
    const before = await retry(() => beginSending(context, run, account, options));
    await auditRefusedStart(context, run, async () => requireApproved(runId, before));
    events.onStart(await retry(() => requireSummary(context, runId)));

    const reason = { kind: 'interrupted' } as const;
    const details = { reason: formatReason(reason) };
    const addAuditEntry = auditEntry(context, { action: 'run paused', run: runId, details });
    const pausing = drain.begun.then(() =>
      retry(async () => pauseRun(await ledger.queue(), pool, runId, { reason, alongside: addAuditEntry })),
    );
    // When it fails, the worker fails too.
    pausing.catch(() => undefined);
    const onProgress = (progress: DispatchProgress): void => {
      last = progress;
      events.onProgress(progress);
    };
    const onSliceFailed = (): void => {
      isUnrecorded = true;
    };
    const workerOptions = {
      accountNamed,
      stop,
      cutOff: drain.cutOff,
      outageRetry,
      onProgress,
      onSliceFailed,
    };
    for (;;) {
      last = (await retry(() => readDispatchProgress(pool, [runId]))).get(runId);
      if (!last || !isAtRest(last)) await workUntilAtRest(context, runId, workerOptions);
      trace('at rest', runId);
      if (stop.aborted) await pausing;
      const end = await retry(() => findEnd(context, runId, stop));
      // An operator has resumed the run, or an older ledger was restored.
      if (!end) {
        const { onHold } = await retry(() => checkLedgerLocation(context));
        if (onHold === null) {
          await sleep(recheckDelay, undefined, { signal: stop }).catch(() => undefined);
          continue;
        }
        const summary = await retry(() => requireSummary(context, runId));
        return { kind: 'paused', reason: `${onHold} ${heldLedgerAdvice}`, isByCanary: false, summary };
      }
      trace('run finished', runId);
      return end;
    }
  } catch (error) {
    if (!drain.giveUp.aborted) throw error;
    if (isUnrecorded) return { kind: 'unrecorded' };
    return last && isAtRest(last) ? { kind: 'recorded', progress: last } : { kind: 'idle' };
  } finally {
    drain.clear();
  }
}

const recheckDelay = 250;

/** Neither running nor in flight. */
function isAtRest({ state, heldSlices }: DispatchProgress): boolean {
  return state !== 'running' && heldSlices === 0;
}

async function workUntilAtRest(
  context: EngineContext,
  run: string,
  {
    onProgress,
    ...options
  }: Pick<WorkerOptions, 'accountNamed' | 'stop' | 'cutOff' | 'outageRetry' | 'onSliceFailed'> &
    Pick<DispatchEvents, 'onProgress'>,
): Promise<void> {
  const atRest = new AbortController();
  await runWorker(context, {
    ...options,
    stop: AbortSignal.any([options.stop, atRest.signal]),
    watchedRun: run,
    onProgress: (progress) => {
      onProgress(progress);
      if (isAtRest(progress)) atRest.abort();
    },
  });
}

/** @returns undefined while the run is sent, unless this process must stop */
async function findEnd(
  context: EngineContext,
  runId: string,
  stop: AbortSignal,
): Promise<KnownEnd | undefined> {
  const { state, stateReason } = await requireRun(context, runId);
  const summary = await requireSummary(context, runId);
  const reason = stateReason === null ? '' : formatReason(stateReason);
  if (state === 'completed') return { kind: 'finished', summary };
  if (hasEnded(state)) return { kind: 'cancelled', reason, summary };
  // An operator may have resumed it.
  if (stop.aborted && (isInterruption(stateReason) || state === 'running'))
    return { kind: 'drained', summary };
  if (state !== 'paused') return undefined;
  return { kind: 'paused', reason, isByCanary: isStoppedByCanary(stateReason), summary };
}

/**
 * Audits the refused resumption of a run that is over.
 *
 * @returns its end; undefined when it is not over
 */
export async function refuseFinishedRun(
  context: EngineContext,
  { run, state }: Run,
): Promise<KnownEnd | undefined> {
  if (!hasEnded(state)) return undefined;
  const problems = [{ where: `run ${run}`, what: nothingLeftText(state) }];
  await recordRefusal(context, { action: 'run resumed', run }, problems);
  return findEnd(context, run, never);
}

const never = new AbortController().signal;

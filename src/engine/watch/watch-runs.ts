import { addLook } from '../../decisions/observation.ts';
import { insertWarning } from '../../ledger/notifications/insert.ts';
import { lockRun, markPaused } from '../../ledger/run-states/transitions.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { lockAndDequeueRun, promoteSlices, type SlicePlan } from '../../ledger/slices/enqueue.ts';
import { readDispatchProgress } from '../../ledger/slices/progress.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { insertDecision } from '../../ledger/watch/decisions.ts';
import { listRunsToWatch, readWatch, recordLook, type WatchedRun } from '../../ledger/watch/watches.ts';
import type { EngineContext } from '../context.ts';
import { canaryOf, watchCanary } from './canary.ts';
import { guardOf, watchGuard } from './guard.ts';
import type { Watcher } from './look.ts';

/** By the name under which `run_watches.evidence` has what each keeps. */
const watchers: Readonly<Record<string, Watcher>> = { canary: watchCanary, guard: watchGuard };

/** Whether workers look at a run of this definition. */
export function isWatched(definition: unknown): boolean {
  return canaryOf(definition) !== undefined || guardOf(definition) !== undefined;
}

/**
 * Looks at each watched run whose account this process has.
 *
 * @param ignoredAccounts that this process does not have
 * @param planOf undefined: the process does not have the account
 */
export async function watchRuns(
  { ledger: { pool }, now }: Pick<EngineContext, 'ledger' | 'now'>,
  queue: SliceQueue,
  ignoredAccounts: readonly string[],
  planOf: (watched: WatchedRun) => Promise<SlicePlan | undefined>,
): Promise<void> {
  for (const watched of await listRunsToWatch(pool, ignoredAccounts)) {
    const { run } = watched;
    const plan = await planOf(watched);
    if (!plan) continue;
    const paused = await inTransaction(pool, (client) =>
      lookAt(queue, client, watched, { plan, now: now() }),
    );
    // Else its queued slices would only be returned by the workers that acquire them.
    if (paused) await inTransaction(pool, (client) => lockAndDequeueRun(queue, client, run));
  }
}

/** @returns whether the run was paused */
async function lookAt(
  queue: SliceQueue,
  client: Transaction,
  watched: WatchedRun,
  { plan, now }: { readonly plan: SlicePlan; readonly now: Date },
): Promise<boolean> {
  const { run } = watched;
  const state = await lockRun(client, run);
  const watch = await readWatch(client, run);
  const progress = (await readDispatchProgress(client, [run])).get(run);
  if (state !== 'running' || !watch || !progress) return false;
  const lookMs = addLook(0, watch.sinceLookMs);
  const observedMs = watch.observedMs + (progress.canary?.isSent ? lookMs : 0);
  const evidence: Record<string, unknown> = { ...watch.evidence };
  let paused = false;
  for (const [name, watcher] of Object.entries(watchers)) {
    const look = { ...watched, client, progress, lookMs, observedMs, evidence: evidence[name] };
    const found = await watcher(look);
    if (found.evidence !== undefined) evidence[name] = found.evidence;
    const { decision } = found;
    if (!decision) continue;
    await insertDecision(client, run, { ...decision, by: null }, now);
    if (decision.kind === 'canary promoted') await promoteSlices(queue, client, plan);
    if (decision.warning) await insertWarning(client, run, decision.warning, now);
    if (decision.pause) await markPaused(client, run, decision.pause);
    paused = decision.pause !== undefined;
    if (paused) break;
  }
  await recordLook(client, run, { observedMs, evidence }, watch.now);
  return paused;
}

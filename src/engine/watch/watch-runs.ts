import type { Decision, DecisionKind } from '../../domain/decisions.ts';
import type { RunState } from '../../domain/runs.ts';
import { insertWarning } from '../../ledger/notifications/insert.ts';
import { lockRun, markPaused, recordQuestion } from '../../ledger/run-states/transitions.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { lockAndDequeueRun, promoteSlices, type SlicePlan } from '../../ledger/slices/enqueue.ts';
import { readDispatchProgress } from '../../ledger/slices/progress.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { insertDecision } from '../../ledger/watch/decisions.ts';
import { askAboutRest, decideRest } from '../../ledger/watch/rests.ts';
import { listRunsToWatch, readWatch, recordLook, type WatchedRun } from '../../ledger/watch/watches.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import { canaryOf, watchCanary } from './canary.ts';
import { guardOf, watchGuard } from './guard.ts';
import type { Watcher } from './look.ts';
import { waitsForWinner, watchVariants } from './variants.ts';

/** By the state of the run, and by the name under which `run_watches.evidence` has what each keeps. */
const watchers: Readonly<Partial<Record<RunState, Readonly<Record<string, Watcher>>>>> = {
  running: { canary: watchCanary, guard: watchGuard },
  completed: { variants: watchVariants },
};

/** A run, with the last decision of a look at it. */
export type DecidedRun = { readonly run: string; readonly decision: DecisionKind };

/** Whether workers look at a run of this definition. */
export function isWatched(definition: unknown): boolean {
  return [canaryOf, guardOf].some((of) => of(definition) !== undefined) || waitsForWinner(definition);
}

/**
 * Looks at each watched run whose account this process has.
 *
 * @param ignoredAccounts that this process does not have
 * @param planOf undefined: the process does not have the account
 * @returns what was decided
 */
export async function watchRuns(
  { ledger: { pool }, now }: Pick<EngineContext, 'ledger' | 'now'>,
  queue: SliceQueue,
  ignoredAccounts: readonly string[],
  planOf: (watched: WatchedRun) => Promise<SlicePlan | undefined>,
): Promise<readonly DecidedRun[]> {
  const decided: DecidedRun[] = [];
  for (const watched of await listRunsToWatch(pool, ignoredAccounts)) {
    const { run } = watched;
    const plan = await planOf(watched);
    if (!plan) continue;
    const last = await inTransaction(pool, (client) => lookAt(queue, client, watched, { plan, now: now() }));
    // Else its queued slices would only be returned by the workers that acquire them.
    if (last?.pause) await inTransaction(pool, (client) => lockAndDequeueRun(queue, client, run));
    if (last?.rest) trace('winner decided', run);
    if (last) decided.push({ run, decision: last.kind });
  }
  return decided;
}

/** A look adds at most this, so that neither a wrong clock nor a time without workers ends an observation. */
const maxLookMs = 10_000;

/** @returns the last decision */
async function lookAt(
  queue: SliceQueue,
  client: Transaction,
  watched: WatchedRun,
  { plan, now }: { readonly plan: SlicePlan; readonly now: Date },
): Promise<Decision | undefined> {
  const { run } = watched;
  const state = await lockRun(client, run);
  const watch = await readWatch(client, run);
  const progress = (await readDispatchProgress(client, [run])).get(run);
  if (!state || !watch || !progress) return undefined;
  const lookMs = Math.min(Math.max(watch.sinceLookMs, 0), maxLookMs);
  const observedMs = watch.observedMs + (progress.canary?.isSent ? lookMs : 0);
  const evidence: Record<string, unknown> = { ...watch.evidence };
  let last: Decision | undefined;
  for (const [name, watcher] of Object.entries(watchers[state] ?? {})) {
    const look = { ...watched, client, progress, lookMs, observedMs, evidence: evidence[name] };
    const found = await watcher(look);
    if (found.evidence !== undefined) evidence[name] = found.evidence;
    const { decision } = found;
    if (!decision) continue;
    await insertDecision(client, run, { ...decision, by: null }, now);
    if (decision.kind === 'canary promoted') await promoteSlices(queue, client, plan);
    if (decision.warning) await insertWarning(client, run, decision.warning, now);
    if (decision.rest) await decideAboutRest(client, run, decision.rest.variant, now);
    last = decision;
    if (!decision.pause) continue;
    await markPaused(client, run, decision.pause);
    break;
  }
  await recordLook(client, run, { observedMs, evidence }, watch.now);
  return last;
}

async function decideAboutRest(
  client: Transaction,
  run: string,
  variant: number | null,
  now: Date,
): Promise<void> {
  if (variant !== null) return decideRest(client, run, variant);
  await askAboutRest(client, run, 'No variant is clearly better.');
  await recordQuestion(client, run, 'no variant is clearly better, and a person decides', now);
}

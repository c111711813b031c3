import { operatorRecord } from '../../decisions/canary.ts';
import { InputError } from '../../domain/problems.ts';
import { hasEnded } from '../../domain/runs.ts';
import { isStoppedByCanary } from '../../domain/watch-reasons.ts';
import { markPromoted } from '../../ledger/slice-states/transitions.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { insertDecision } from '../../ledger/watch/decisions.ts';
import { audited } from '../audit.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { canaryCounts, canaryOf } from '../watch/canary.ts';
import { beginSending, nothingLeftText } from './begin-run.ts';
import { noSuchRun, requireRun } from './find-run.ts';

/**
 * Promotes a run by hand: workers send the rest, also of a run that its canary paused.
 *
 * @throws InputError unless the run has a canary that was begun and not promoted, or if it is paused for another reason
 */
export async function promoteRun(
  context: EngineContext,
  runId: string,
  accountNamed: AccountNamed,
  reason: string,
): Promise<void> {
  const run = await requireRun(context, runId);
  await audited(
    context,
    { action: 'run promoted', run: runId, details: { reason } },
    async (addAuditEntry) => {
      // A resume forgets it.
      const { observedMs } = await requirePromotable(context, runId);
      let isPromoted = false;
      const account = await accountNamed(run.account);
      await beginSending(context, run, account, {
        includePaused: isStoppedByCanary(run.stateReason),
        alongside: async (client) => {
          const progress = (await readDispatchProgress(client, [runId])).get(runId) ?? noSuchRun(runId);
          requireCanary(runId, progress);
          const settings = canaryOf(run.definition);
          const record = operatorRecord(settings?.abort ?? {}, canaryCounts(progress), observedMs);
          const by = { user: context.actor.name, reason };
          await insertDecision(client, runId, { kind: 'canary promoted', by, record }, context.now());
          await markPromoted(client, runId);
          await addAuditEntry(client);
          isPromoted = true;
        },
      });
      if (!isPromoted) refuse(runId, 'The run has changed meanwhile. Look at it, and try again.');
    },
  );
}

/** @returns its canary @throws InputError if it cannot be promoted now */
export async function requirePromotable(
  { ledger }: EngineContext,
  run: string,
): Promise<NonNullable<DispatchProgress['canary']>> {
  const progress = (await readDispatchProgress(ledger.pool, [run])).get(run) ?? noSuchRun(run);
  const { state, stateReason } = progress;
  if (hasEnded(state)) refuse(run, nothingLeftText(state));
  const canary = requireCanary(run, progress);
  if (state === 'planned') refuse(run, 'The run is not started yet; there is nothing to promote.');
  if (state === 'paused' && !isStoppedByCanary(stateReason))
    refuse(
      run,
      `The run is paused for another reason. \`volley resume ${run}\` continues it; then promote it.`,
    );
  return canary;
}

function requireCanary(
  run: string,
  { canary }: Pick<DispatchProgress, 'canary'>,
): NonNullable<DispatchProgress['canary']> {
  return canary ?? refuse(run, 'Nothing of the run waits for a promotion.');
}

function refuse(run: string, what: string): never {
  throw new InputError([{ where: `run ${run}`, what }]);
}

import type { z } from 'zod';
import { frozenVariants } from '../../campaign/variants-definition.ts';
import { operatorRecord } from '../../decisions/canary.ts';
import { recordWinner } from '../../decisions/winner.ts';
import { InputError } from '../../domain/problems.ts';
import { hasEnded } from '../../domain/runs.ts';
import { isStoppedByCanary } from '../../domain/watch-reasons.ts';
import { lockRun } from '../../ledger/run-states/transitions.ts';
import { type Connection, inTransaction } from '../../ledger/session.ts';
import { markPromoted } from '../../ledger/slice-states/transitions.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { insertDecision } from '../../ledger/watch/decisions.ts';
import { decideRest, lockRest } from '../../ledger/watch/rests.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import { readWatch } from '../../ledger/watch/watches.ts';
import { audited } from '../audit.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { canaryCounts, canaryOf } from '../watch/canary.ts';
import { observedVariantsMs } from '../watch/variants.ts';
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
  const event = { action: 'run promoted', run: runId, details: { reason } } as const;
  await audited(context, event, async (addAuditEntry) => {
    const account = await accountNamed(run.account);
    let record: object = {};
    await beginSending(context, run, account, {
      check: async (client) => {
        // A resume forgets how long it was observed.
        const { observedMs, ...progress } = await requirePromotable(client, runId);
        record = operatorRecord(canaryOf(run.definition)?.abort ?? {}, canaryCounts(progress), observedMs);
      },
      alongside: async (client) => {
        const by = { user: context.actor.name, reason };
        await insertDecision(client, runId, { kind: 'canary promoted', by, record }, context.now());
        await markPromoted(client, runId);
        await addAuditEntry(client);
      },
    });
  });
}

/** @throws InputError if the run cannot be promoted now */
export async function requirePromotable(
  client: Connection,
  run: string,
): Promise<DispatchProgress & { readonly observedMs: number }> {
  const progress = (await readDispatchProgress(client, [run])).get(run) ?? noSuchRun(run);
  const { state, stateReason, canary } = progress;
  if (hasEnded(state)) refuse(run, nothingLeftText(state));
  if (!canary) refuse(run, 'Nothing of the run waits for a promotion.');
  if (state === 'planned') refuse(run, 'The run is not started yet; there is nothing to promote.');
  if (state === 'paused' && !isStoppedByCanary(stateReason))
    refuse(
      run,
      `The run is paused for another reason. \`volley resume ${run}\` continues it; then promote it.`,
    );
  return { ...progress, observedMs: canary.observedMs };
}

/** The names of the variants that the rest of a run can get; empty: nothing of it waits for a winner. */
export async function listPromotable(context: EngineContext, run: string): Promise<readonly string[]> {
  const { definition } = await requireRun(context, run);
  const progress = (await readDispatchProgress(context.ledger.pool, [run])).get(run);
  if (progress?.state !== 'completed' || !progress.rest || progress.rest.isDecided) return [];
  return sentNames(frozenVariants.parse(definition).variants);
}

function sentNames(variants: z.output<typeof frozenVariants>['variants'] = []): string[] {
  return variants.flatMap(({ name, send }) => (send === undefined ? name : []));
}

/**
 * Decides by hand which variant the rest of a run gets.
 *
 * @param name of the variant
 * @throws InputError unless the run is sent and waits for its winner
 */
export async function promoteVariant(
  context: EngineContext,
  run: string,
  name: string,
  reason: string,
): Promise<void> {
  const { definition } = await requireRun(context, run);
  const { variants = [], until } = frozenVariants.parse(definition);
  const event = { action: 'run promoted', run, details: { reason, variant: name } } as const;
  await audited(context, event, async (addAuditEntry) => {
    const sent = sentNames(variants);
    if (!sent.includes(name))
      refuse(run, `It has no variant "${name}" that is sent; expected ${sent.join(', ') || 'none'}.`);
    await inTransaction(context.ledger.pool, async (client) => {
      const state = await lockRun(client, run);
      const rest = await lockRest(client, run);
      if (!rest || !until || rest.variant !== null) return refuse(run, 'No part of it waits for a winner.');
      if (state !== 'completed') refuse(run, `It is ${state}; decide once its variants are sent.`);
      const counts = await readVariantResults(client, run);
      const observedMs = observedVariantsMs((await readWatch(client, run))?.evidence?.['variants']);
      const record = recordWinner('operator', until, counts, { observedMs, sends: name });
      const by = { user: context.actor.name, reason };
      await insertDecision(client, run, { kind: 'winner', by, record }, context.now());
      await decideRest(client, run, variants.findIndex((each) => each.name === name) + 1);
      await addAuditEntry(client);
    });
  });
}

function refuse(run: string, what: string): never {
  throw new InputError([{ where: `run ${run}`, what }]);
}
